// The filter of reports, which omits files that are not the program's data, and counts them.
#include "trace/report/filter.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "plait/error.hpp"
#include "trace_report_case.hpp"

namespace plait::trace::report {
namespace {

TEST(TraceFilter, FilesAreClassifiedByTheirNames) {
  for (const char* name : {"/dev/shm/ucx_shm_posix_1fae0228", "/dev/shm/mpich_shar_tmpVqJd2F",
                           "/dev/shm/vader_segment.node.1000.5f.3", "/dev/shm/sem.mp-x1", "/memfd:x (deleted)"})
    EXPECT_EQ(classify_foreign_file(name), FileClass::kMpi) << name;
  for (const char* name : {"/proc/self/maps", "/proc", "/sys/devices/system/cpu/online", "/dev/urandom"})
    EXPECT_EQ(classify_foreign_file(name), FileClass::kKernel) << name;
  for (const char* name : {"/lib/x86_64-linux-gnu/libc.so.6", "/opt/a/libhdf5.so", "loader:[dlopen]"})
    EXPECT_EQ(classify_foreign_file(name), FileClass::kLibraries) << name;
  for (const char* name :
       {"/data/a/__pycache__/b.cpython-311.pyc", "/data/a/__pycache__/b.cpython-311.pyc.140232",
        "/usr/lib/python3.11/os.py", "/usr/lib/python3/dist-packages/numpy", "/data/a/env/pyvenv.cfg",
        "/data/a/env/bin/python3", "/data/a/env/lib/python3.11/site-packages/x/y.json",
        "/usr/lib/jvm/java-17-openjdk-amd64/lib/modules", "/opt/jdk-21.0.1/lib/server/classes.jsa",
        "/data/a/graal/lib/modules", "/tmp/hsperfdata_root/591"})
    EXPECT_EQ(classify_foreign_file(name), FileClass::kInterpreter) << name;
  for (const char* name : {"/etc/localtime", "/usr/lib/locale/locale-archive"})
    EXPECT_EQ(classify_foreign_file(name), FileClass::kSettings) << name;
  for (const char* name :
       {"/dev/shm/data.npy", "/dev/shm", "/data/a/out.npy", "simulation.py", "/data/a/proc/b", "sys", "/etc/passwd",
        "pipe:[12]", "a.sock", "/data/lib/pythonic/x.dat", "/data/lib/python3data.h5", "/data/bin/python-out/run.h5",
        "/dev/shm/impinging.npy", "/dev/shm/mv2data.npy", "/data/modules", "/data/jdk-tests.h5", ""})
    EXPECT_EQ(classify_foreign_file(name), FileClass::kNone) << name;
}

/// Returns a trace with a file of the program and three foreign files (of MPI, the kernel and the interpreter), which
/// reports omit by default.
TraceInput input_with_foreign_files() {
  TraceInput input;
  input.add_process(1);
  input.add_file(1, 1, "/data/a/out.npy");
  input.add_file(1, 2, "/dev/shm/ucx_shm_posix_1");
  input.add_file(1, 3, "/proc/self/maps");
  input.add_file(1, 4, "/usr/lib/python3.11/os.py");
  std::int64_t start = 0;
  for (std::uint32_t file = 1; file <= 4; ++file) input.add(Kind::kOpen, start += 100, -1, 0, file);
  for (std::uint32_t file = 1; file <= 4; ++file)
    input.add(file <= 2 ? Kind::kWrite : Kind::kRead, start += 100, 0, 1000 * file, file);
  Event& map = input.add(Kind::kMap, start += 100, 0, 0, 4);
  map.length = 4096;
  map.interface = Interface::kMmap;
  map.flags |= flag::kReadOnly;
  input.add(Kind::kRead, start += 100, 0, 5, 4).result = -5;
  return input;
}

std::int64_t calls_in(const Report& report) {
  std::int64_t count = 0;
  for (const CallRow& row : report.calls) count += row.count;
  for (const LeftOutRow& row : report.left_out) count += row.calls;
  return count;
}

TEST(TraceFilter, OmittedFilesAreCounted) {
  const Report report = input_with_foreign_files().report();
  EXPECT_EQ(report.totals.data[kWrites].bytes, 1000);
  EXPECT_EQ(report.totals.data[kReads].bytes, 0);
  ASSERT_EQ(report.files.size(), 1u);
  ASSERT_EQ(report.left_out.size(), 3u);
  const LeftOutRow& mpi = report.left_out[0];
  EXPECT_EQ(mpi.what, "MPI's own files");
  EXPECT_EQ(mpi.files, 1);
  EXPECT_EQ(mpi.calls, 2);
  EXPECT_EQ(mpi.data[kWrites].bytes, 2000);
  EXPECT_EQ(mpi.time, 20);
  const LeftOutRow& interpreter = report.left_out[2];
  EXPECT_EQ(interpreter.calls, 4);
  EXPECT_EQ(interpreter.data[kReads].bytes, 4000);
  EXPECT_EQ(interpreter.mapped[kReads], 4096);
  EXPECT_EQ(interpreter.mapped[kWrites], 0);
  EXPECT_EQ(calls_in(report), report.totals.events);
  EXPECT_EQ(report.processes.front().end, 1010 - 100);  // omitted events still show how long the process ran
}

TEST(TraceFilter, PatternsSelectOmittedFiles) {
  Options options;
  options.all = true;
  Report report = input_with_foreign_files().report(options);
  EXPECT_TRUE(report.left_out.empty());
  EXPECT_EQ(report.files.size(), 4u);
  options.exclude = {"*.npy"};
  report = input_with_foreign_files().report(options);
  ASSERT_EQ(report.left_out.size(), 1u);
  EXPECT_EQ(report.left_out[0].what, "excluded files");
  EXPECT_EQ(report.files.size(), 3u);
  options = Options{};
  options.include = {"/proc/*", "*.npy"};
  options.exclude = {"*.npy"};
  report = input_with_foreign_files().report(options);
  ASSERT_EQ(report.files.size(), 1u);
  EXPECT_EQ(report.files[0].name, "/proc/self/maps");
  EXPECT_EQ(calls_in(report), report.totals.events);
  options = Options{};
  options.file = "/dev/shm/*";  // a file selected by name is not omitted
  report = input_with_foreign_files().report(options);
  ASSERT_EQ(report.files.size(), 1u);
  EXPECT_TRUE(report.left_out.empty());
}

TEST(TraceFilter, AMissingProcessIsAnError) {
  TraceInput input;
  input.add_process(2);
  input.add(Kind::kRead, 0, 0, 10, 1, 1);
  Options options;
  options.process = 1;
  EXPECT_EQ(input.report(options).totals.data[kReads].bytes, 10);
  options.process = 2;  // the process has no events
  EXPECT_EQ(input.report(options).totals.data[kReads].bytes, 0);
  options.process = 3;
  EXPECT_THROW(input.report(options), Error);
}

}  // namespace
}  // namespace plait::trace::report
