// The classes of files by the purpose of their data: required (read or written once), checkpoints (rewritten after
// pauses), swapping (read again and again) and other.
#include "trace/report/tables/classes.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "plait/workloads.hpp"
#include "trace_report_case.hpp"

namespace plait::trace::report {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// Adds one pass over a file of 10 records: reads or writes all of them, a record every 10 ms.
void add_pass(TraceInput& input, Kind kind, std::int64_t start, std::uint32_t file = 1, std::uint32_t process = 1) {
  for (std::int64_t i = 0; i < 10; ++i) input.add(kind, start + i * kSecond / 100, i * 100'000, 100'000, file, process);
}

Class find_class(const TraceInput& input, const std::string& name) {
  const Report report = input.report();
  for (const FileRow& file : report.files)
    if (file.name == name) return file.what;
  ADD_FAILURE() << "no file " << name;
  return Class::kOther;
}

/// Returns a trace of one process with one file, "data", and no events yet.
TraceInput make_input() {
  TraceInput input;
  input.add_process(1);
  input.add_file(1, 1, "data");
  return input;
}

TEST(TraceClasses, ReadOnceIsRequired) {
  TraceInput input = make_input();
  add_pass(input, Kind::kRead, 0);
  EXPECT_EQ(find_class(input, "data"), Class::kRequired);
  input.add_process(2);  // another process that reads the file once does not change its class
  input.add_file(2, 1, "data");
  add_pass(input, Kind::kRead, kSecond, 1, 2);
  EXPECT_EQ(find_class(input, "data"), Class::kRequired);
}

TEST(TraceClasses, WrittenOnceIsRequired) {
  TraceInput input = make_input();
  add_pass(input, Kind::kWrite, 100 * kSecond);
  EXPECT_EQ(find_class(input, "data"), Class::kRequired);
}

TEST(TraceClasses, WrittenRepeatedlyWithPausesIsACheckpoint) {
  TraceInput input = make_input();
  add_pass(input, Kind::kRead, 0);  // the read at a restart
  for (int i = 1; i <= 5; ++i) add_pass(input, Kind::kWrite, i * 20 * kSecond);
  EXPECT_EQ(find_class(input, "data"), Class::kCheckpoint);
}

TEST(TraceClasses, WrittenContinuouslyIsNoCheckpoint) {
  TraceInput input = make_input();
  for (int i = 1; i <= 5; ++i) add_pass(input, Kind::kWrite, i * kSecond / 9);
  EXPECT_EQ(find_class(input, "data"), Class::kOther);
}

TEST(TraceClasses, FilesOfOnePatternAreCheckpoints) {
  TraceInput input;
  input.add_process(1);
  for (std::uint32_t i = 1; i <= 4; ++i) {
    input.add_file(1, i, "ckpt." + std::to_string(95 + i));
    add_pass(input, Kind::kWrite, i * 30 * kSecond, i);
  }
  input.add_file(1, 9, "out.1");
  add_pass(input, Kind::kWrite, 200 * kSecond, 9);
  EXPECT_EQ(find_class(input, "ckpt.96"), Class::kCheckpoint);
  EXPECT_EQ(find_class(input, "ckpt.99"), Class::kCheckpoint);
  EXPECT_EQ(find_class(input, "out.1"), Class::kRequired);
}

TEST(TraceClasses, FilesOfSeveralProcessesAtOnceAreNoCheckpoints) {
  TraceInput input;
  for (std::int64_t step = 0; step < 10; ++step)
    for (std::uint32_t process = 1; process <= 4; ++process)
      input.add(Kind::kWrite, step * kSecond + process, step * 1000, 1000, 1, process);
  for (std::uint32_t process = 1; process <= 4; ++process) input.add_file(process, 1, "out." + std::to_string(process));
  EXPECT_EQ(find_class(input, "out.1"), Class::kRequired);
}

TEST(TraceClasses, AFileOfEachProcessInTurnIsNoCheckpoint) {
  TraceInput input;
  for (std::uint32_t process = 1; process <= 4; ++process) {
    input.add_file(process, 1, "out." + std::to_string(process));
    add_pass(input, Kind::kWrite, process * 30 * kSecond, 1, process);
  }
  EXPECT_EQ(find_class(input, "out.1"), Class::kRequired);
}

TEST(TraceClasses, LittleDataReadRepeatedlyIsNotSwapping) {
  TraceInput input = make_input();
  for (int i = 0; i < 3; ++i) input.add(Kind::kRead, i * kSecond, 0, 642);
  EXPECT_EQ(find_class(input, "data"), Class::kOther);
}

TEST(TraceClasses, ReadAndWrittenEachCycleIsSwapping) {
  TraceInput input = make_input();
  for (int i = 0; i < 5; ++i) {
    add_pass(input, Kind::kRead, 2 * i * kSecond);
    add_pass(input, Kind::kWrite, (2 * i + 1) * kSecond);
  }
  EXPECT_EQ(find_class(input, "data"), Class::kSwapping);
}

TEST(TraceClasses, ReadRepeatedlyIsSwapping) {
  TraceInput input = make_input();
  for (int i = 0; i < 5; ++i) add_pass(input, Kind::kRead, i * kSecond);
  EXPECT_EQ(find_class(input, "data"), Class::kSwapping);
}

TEST(TraceClasses, WrittenAndReadBackOnceIsOther) {
  TraceInput input = make_input();
  add_pass(input, Kind::kWrite, 0);
  add_pass(input, Kind::kRead, kSecond);
  EXPECT_EQ(find_class(input, "data"), Class::kOther);
}

TEST(TraceClasses, SaturatedSumsAreCompared) {
  FileRow file;
  file.data[kReads] = {1000, INT64_MAX};
  file.extent = INT64_MAX;
  file.processes = 1000;
  EXPECT_EQ(classify(file), Class::kRequired);
  file.data[kWrites] = {1000, INT64_MAX};
  file.write_rounds = file.write_pauses = file.read_back = INT64_MAX;
  file.rewrites = file.alternations = 9;
  EXPECT_EQ(classify(file), Class::kOther);
}

TEST(TraceClasses, PatternsReplaceDigits) {
  EXPECT_EQ(name_pattern("run12/ckpt.0034"), "run#/ckpt.#");
  EXPECT_EQ(name_pattern("none"), "none");
}

TEST(TraceClasses, WorkloadsWithCyclesSwapAndOthersTransferRequiredData) {
  for (const Workload& program : workloads()) {
    if (program.requests > 1'000'000) continue;  // like the others, but slow
    const auto reader = workload(program.name);
    const Report report = analyse(*reader);
    const std::int64_t all = report.totals.data[kReads].bytes + report.totals.data[kWrites].bytes;
    const Class expected = program.cycles > 0 ? Class::kSwapping : Class::kRequired;
    EXPECT_GT(static_cast<double>(report.classes[static_cast<std::size_t>(expected)].bytes),
              0.95 * static_cast<double>(all))
        << program.name;
  }
}

}  // namespace
}  // namespace plait::trace::report
