// How the processes of a job find each other: missing, differing and duplicate ranks, and files left by killed jobs.
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

/// Runs the ranks at the same time, one thread each, with a time limit of `seconds`. Returns the error of each;
/// its text is empty without an error.
std::vector<ReportedError> run_ranks(
    const std::vector<Job>& jobs, double seconds, const std::function<void(Rendezvous&)>& body = [](Rendezvous&) {}) {
  std::vector<ReportedError> reports(jobs.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < jobs.size(); ++i)
    threads.emplace_back([&, i] {
      try {
        Rendezvous rendezvous(jobs[i], Seconds(seconds));
        body(rendezvous);
      } catch (const Error& error) {
        reports[i] = {error.what(), error.system_code(), error.kind()};
      }
    });
  for (std::thread& thread : threads) thread.join();
  return reports;
}

TEST(Rendezvous, RanksAgreeWhenAllHaveArrived) {
  const job_case::MeetingFolder meeting;
  for (int size = 1; size <= 5; ++size) {
    std::vector<Job> jobs;
    for (int rank = size - 1; rank >= 0; --rank) jobs.push_back({"case", size, rank});
    const auto reports = run_ranks(jobs, 60, [&](Rendezvous& rendezvous) {
      EXPECT_EQ(rendezvous.processes().size(), static_cast<std::size_t>(size));
      for (const auto& process : rendezvous.processes()) EXPECT_EQ(process.number, ::getpid());
      std::array<std::byte, 3> bytes{};
      if (rendezvous.node_rank() == 0) bytes.fill(std::byte{9});
      rendezvous.broadcast_from_first(bytes);
      EXPECT_EQ(bytes[2], std::byte{9});
      std::array<std::int64_t, 2> values{rendezvous.node_rank(), -rendezvous.node_rank()};
      rendezvous.reduce_max(values);
      EXPECT_EQ(values, (std::array<std::int64_t, 2>{size - 1, 0}));
      EXPECT_EQ(rendezvous.all_true(rendezvous.node_rank() != 2), size <= 2);
    });
    for (const ReportedError& report : reports) EXPECT_EQ(report.text, "");
  }
}

TEST(Rendezvous, AFileThatNoProcessLocksIsReplaced) {
  const job_case::MeetingFolder meeting;
  std::ofstream(meeting.folder() / "case.plait-job") << "plait-job 0 left by a job that was killed";
  for (const ReportedError& report : run_ranks({{"case", 2, 0}, {"case", 2, 1}}, 60)) EXPECT_EQ(report.text, "");
}

TEST(Rendezvous, ALockedFileOfAnotherFormatIsAnError) {
  const job_case::MeetingFolder meeting;
  const std::string path = meeting.folder() / "case.plait-job";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(::write(file, "something else of today", 23), 23);
  ASSERT_TRUE(plait::base::host::take_lock(file, {5, 1}));
  const auto reports = run_ranks({{"case", 2, 0}}, 60);
  EXPECT_EQ(reports[0].code, EPROTO);
  EXPECT_NE(reports[0].text.find("another version of Plait"), std::string::npos);
  ::close(file);
  remove_leftovers();
  EXPECT_TRUE(std::filesystem::remove(path));
}

TEST(Rendezvous, AnUnlockedFileOfAnotherFormatIsNotRemoved) {
  const job_case::MeetingFolder meeting;
  const std::filesystem::path path = meeting.folder() / "case.plait-job";
  std::ofstream(path) << "#!/bin/sh";
  EXPECT_EQ(run_ranks({{"case", 2, 0}}, 60)[0].code, EEXIST);
  remove_leftovers();
  EXPECT_EQ(std::filesystem::file_size(path), 9U);
  std::filesystem::remove(path);
}

/// The test itself holds the lock on the first byte, like a rank that is stopped while it holds this lock.
TEST(Rendezvous, ALockThatIsNotReleasedIsAnErrorAfterTheTimeLimit) {
  const job_case::MeetingFolder meeting;
  const std::filesystem::path path = meeting.folder() / "case.plait-job";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_TRUE(plait::base::host::take_lock(file, {0, 1}));
  EXPECT_EQ(plait::base::host::find_locking_process(file, {0, 1}), 0);
  const auto begin = std::chrono::steady_clock::now();
  const ReportedError report = run_ranks({{"case", 2, 0}}, 0.1)[0];
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_EQ(report.code, ETIMEDOUT);
  EXPECT_NE(report.text.find("some rank of the job holds its lock, and may be stopped"), std::string::npos)
      << report.text;
  ::close(file);
  remove_leftovers();
}

TEST(Rendezvous, MissingRanksAreNamed) {
  const job_case::MeetingFolder meeting;
  const auto reports = run_ranks({{"case", 4, 3}, {"case", 4, 1}}, 0.3);
  for (const ReportedError& report : reports) {
    EXPECT_EQ(report.code, ETIMEDOUT);
    EXPECT_TRUE(report.text.starts_with("ranks 0, 2 of the job case (4 ranks) have not come within 0.3 s"))
        << report.text;
  }
}

TEST(Rendezvous, DifferentSizesAreAnErrorOnAllRanks) {
  const job_case::MeetingFolder meeting;
  for (const ReportedError& report : run_ranks({{"case", 2, 0}, {"case", 3, 1}}, 60)) {
    EXPECT_EQ(report.kind, ErrorKind::kArgument);
    EXPECT_NE(report.text.find("give all of them the same PLAIT_SIZE"), std::string::npos);
  }
}

TEST(Rendezvous, ADuplicateRankIsAnErrorOnAllRanks) {
  const job_case::MeetingFolder meeting;
  for (const ReportedError& report : run_ranks({{"case", 3, 1}, {"case", 3, 1}}, 60))
    EXPECT_EQ(report.code, EADDRINUSE);
}

TEST(Rendezvous, ARankMayRetryAfterATimeout) {
  const job_case::MeetingFolder meeting;
  EXPECT_EQ(run_ranks({{"case", 2, 1}}, 0.1)[0].code, ETIMEDOUT);
  for (const ReportedError& report : run_ranks({{"case", 2, 1}, {"case", 2, 0}}, 60)) EXPECT_EQ(report.text, "");
}

TEST(Rendezvous, RemovesOnlyJobFilesThatNoProcessLocks) {
  const job_case::MeetingFolder meeting;
  std::ofstream(meeting.folder() / "left.plait-job") << "plait-job 1";
  std::ofstream(meeting.folder() / "begun.plait-job") << "";
  std::ofstream(meeting.folder() / "batch.plait-job") << "something";
  std::ofstream(meeting.folder() / "batch.job") << "";
  run_ranks({{"case", 2, 1}, {"case", 2, 0}}, 60, [&](Rendezvous& rendezvous) {
    if (rendezvous.node_rank() == 0) remove_leftovers();
    rendezvous.all_true(true);
  });
  EXPECT_FALSE(std::filesystem::exists(meeting.folder() / "left.plait-job"));
  EXPECT_FALSE(std::filesystem::exists(meeting.folder() / "begun.plait-job"));
  EXPECT_TRUE(std::filesystem::remove(meeting.folder() / "batch.plait-job"));
  EXPECT_TRUE(std::filesystem::remove(meeting.folder() / "batch.job"));
}

}  // namespace
