// How the processes of a job find each other: who is missing, differs or is there twice, and what killed jobs leave.
#include "transport/local/rendezvous.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/host/meeting_files.hpp"
#include "job_case.hpp"
#include "plait/error.hpp"
#include "transport/local/job.hpp"

namespace {

using plait::Error;
using plait::ErrorKind;
using plait::transport::local::Job;
using plait::transport::local::remove_leftovers;
using plait::transport::local::Rendezvous;
using Seconds = Rendezvous::Seconds;

struct ReportedError {
  std::string text;
  int code = 0;
  ErrorKind kind = ErrorKind::kSystem;
};

/// What each of these is told, which come at the same time.
std::vector<ReportedError> tell(
    const std::vector<Job>& jobs, double seconds, const std::function<void(Rendezvous&)>& body = [](Rendezvous&) {}) {
  std::vector<ReportedError> told(jobs.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < jobs.size(); ++i)
    threads.emplace_back([&, i] {
      try {
        Rendezvous all(jobs[i], Seconds(seconds));
        body(all);
      } catch (const Error& error) {
        told[i] = {error.what(), error.system_code(), error.kind()};
      }
    });
  for (std::thread& thread : threads) thread.join();
  return told;
}

TEST(Rendezvous, AllAgreeOnceTheyHaveCome) {
  const job_case::Meeting meeting;
  for (int size = 1; size <= 5; ++size) {
    std::vector<Job> jobs;
    for (int rank = size - 1; rank >= 0; --rank) jobs.push_back({"case", size, rank});
    const auto told = tell(jobs, 60, [&](Rendezvous& all) {
      EXPECT_EQ(all.processes().size(), static_cast<std::size_t>(size));
      for (const auto& process : all.processes()) EXPECT_EQ(process.number, ::getpid());
      std::array<std::byte, 3> bytes{};
      if (all.node_rank() == 0) bytes.fill(std::byte{9});
      all.from_first(bytes);
      EXPECT_EQ(bytes[2], std::byte{9});
      std::array<std::int64_t, 2> values{all.node_rank(), -all.node_rank()};
      all.largest(values);
      EXPECT_EQ(values, (std::array<std::int64_t, 2>{size - 1, 0}));
      EXPECT_EQ(all.all(all.node_rank() != 2), size <= 2);
    });
    for (const ReportedError& one : told) EXPECT_EQ(one.text, "");
  }
}

TEST(Rendezvous, AFileThatNobodyHoldsIsMadeAnew) {
  const job_case::Meeting meeting;
  std::ofstream(meeting.folder() / "case.plait-job") << "plait-job 0 left by a job that was killed";
  for (const ReportedError& one : tell({{"case", 2, 0}, {"case", 2, 1}}, 60)) EXPECT_EQ(one.text, "");
}

TEST(Rendezvous, AFileOfSomethingElseIsRefused) {
  const job_case::Meeting meeting;
  const std::string path = meeting.folder() / "case.plait-job";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::write(file, "something else of today", 23), 23);
  ASSERT_TRUE(plait::base::host::take_lock(file, {5, 1}));
  const auto told = tell({{"case", 2, 0}}, 60);
  EXPECT_EQ(told[0].code, EPROTO);
  EXPECT_NE(told[0].text.find("another version of Plait"), std::string::npos);
  ::close(file);
  remove_leftovers();
  EXPECT_TRUE(std::filesystem::remove(path));
}

TEST(Rendezvous, AFileOfSomethingElseStaysWhereNobodyHoldsIt) {
  const job_case::Meeting meeting;
  const std::filesystem::path path = meeting.folder() / "case.plait-job";
  std::ofstream(path) << "#!/bin/sh";
  EXPECT_EQ(tell({{"case", 2, 0}}, 60)[0].code, EEXIST);
  remove_leftovers();
  EXPECT_EQ(std::filesystem::file_size(path), 9U);
  std::filesystem::remove(path);
}

/// As a rank that is stopped while it has the first byte.
TEST(Rendezvous, ATurnThatDoesNotComeIsAnErrorInTime) {
  const job_case::Meeting meeting;
  const std::filesystem::path path = meeting.folder() / "case.plait-job";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_TRUE(plait::base::host::take_lock(file, {0, 1}));
  EXPECT_EQ(plait::base::host::locker(file, {0, 1}), 0);
  const auto begin = std::chrono::steady_clock::now();
  const ReportedError told = tell({{"case", 2, 0}}, 0.1)[0];
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_EQ(told.code, ETIMEDOUT);
  EXPECT_NE(told.text.find("some rank of the job holds its lock, and may be stopped"), std::string::npos) << told.text;
  ::close(file);
  remove_leftovers();
}

TEST(Rendezvous, MissingRanksAreNamed) {
  const job_case::Meeting meeting;
  const auto told = tell({{"case", 4, 3}, {"case", 4, 1}}, 0.3);
  for (const ReportedError& one : told) {
    EXPECT_EQ(one.code, ETIMEDOUT);
    EXPECT_TRUE(one.text.starts_with("ranks 0, 2 of the job case (4 ranks) have not come within 0.3 s")) << one.text;
  }
}

TEST(Rendezvous, SizesThatDifferAreAnErrorOfAll) {
  const job_case::Meeting meeting;
  for (const ReportedError& one : tell({{"case", 2, 0}, {"case", 3, 1}}, 60)) {
    EXPECT_EQ(one.kind, ErrorKind::kArgument);
    EXPECT_NE(one.text.find("give all of them the same PLAIT_SIZE"), std::string::npos);
  }
}

TEST(Rendezvous, ARankThatIsThereTwiceIsAnErrorOfAll) {
  const job_case::Meeting meeting;
  for (const ReportedError& one : tell({{"case", 3, 1}, {"case", 3, 1}}, 60)) EXPECT_EQ(one.code, EADDRINUSE);
}

TEST(Rendezvous, OneThatHasGivenUpMayComeAgain) {
  const job_case::Meeting meeting;
  EXPECT_EQ(tell({{"case", 2, 1}}, 0.1)[0].code, ETIMEDOUT);
  for (const ReportedError& one : tell({{"case", 2, 1}, {"case", 2, 0}}, 60)) EXPECT_EQ(one.text, "");
}

TEST(Rendezvous, LeftoversAreWhatNobodyHolds) {
  const job_case::Meeting meeting;
  std::ofstream(meeting.folder() / "left.plait-job") << "plait-job 1";
  std::ofstream(meeting.folder() / "begun.plait-job") << "";
  std::ofstream(meeting.folder() / "batch.plait-job") << "something";
  std::ofstream(meeting.folder() / "batch.job") << "";
  tell({{"case", 2, 1}, {"case", 2, 0}}, 60, [&](Rendezvous& all) {
    if (all.node_rank() == 0) remove_leftovers();
    all.all(true);
  });
  EXPECT_FALSE(std::filesystem::exists(meeting.folder() / "left.plait-job"));
  EXPECT_FALSE(std::filesystem::exists(meeting.folder() / "begun.plait-job"));
  EXPECT_TRUE(std::filesystem::remove(meeting.folder() / "batch.plait-job"));
  EXPECT_TRUE(std::filesystem::remove(meeting.folder() / "batch.job"));
}

}  // namespace
