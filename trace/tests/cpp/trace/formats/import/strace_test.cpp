// Imports of the output of strace with various options.
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "import_case.hpp"

namespace {

using plait::trace::Event;
using plait::trace::Interface;
using plait::trace::Kind;
using plait::trace::kUnknown;
using plait_test::ImportedTrace;
using plait_test::options_for;
using plait_test::read_text;
namespace flag = plait::trace::flag;

TEST(ImportStrace, ReadsFilesPositionsAndTimes) {
  const ImportedTrace trace = read_text(
      "1700000000.000001 execve(\"/bin/cp\", [\"cp\", \"a\\\"b\"], 0x7ffd /* 3 vars */) = 0 <0.000300>\n"
      "1700000000.000500 openat(AT_FDCWD, \"in.bin\", O_RDONLY) = 3 <0.000010>\n"
      "1700000000.000600 read(3, \"\\177ELF, 1, 2) = 3\"..., 4096) = 4096 <0.000020>\n"
      "1700000000.000700 read(3, \"\", 4096) = 0 <0.000001>\n"
      "1700000000.000800 pread64(3, \"x\", 10, 100000000000) = 1 <0.000002>\n"
      "1700000000.000900 lseek(3, 64, SEEK_SET) = 64 <0.000001>\n"
      "1700000000.001000 read(3, \"ab\", 2) = 2\n"
      "1700000000.001100 close(3) = 0 <0.000001>\n"
      "1700000000.001200 exit_group(0) = ?\n"
      "1700000000.001300 +++ exited with 0 +++\n");
  EXPECT_EQ(trace.description.format, "strace");
  EXPECT_EQ(trace.description.zero, 1'700'000'000'000'001'000);
  EXPECT_TRUE(trace.description.complete);
  ASSERT_EQ(trace.events.size(), 9u);
  EXPECT_EQ(trace.description.processes.at(0).command, "cp a\"b");
  const auto reads = trace.select(Kind::kRead);
  ASSERT_EQ(reads.size(), 4u);
  EXPECT_EQ(reads[0].start, 599'000);
  EXPECT_EQ(reads[0].duration, 20'000);
  EXPECT_EQ(reads[0].offset, 0);
  EXPECT_EQ(reads[0].result, 4096);
  EXPECT_EQ(reads[1].offset, 4096);
  EXPECT_EQ(reads[1].result, 0);
  EXPECT_EQ(reads[2].offset, 100'000'000'000);
  EXPECT_EQ(reads[2].length, 10);
  EXPECT_EQ(reads[3].offset, 64);
  EXPECT_EQ(reads[3].duration, kUnknown);
  EXPECT_EQ(trace.name(reads[3]), "in.bin");
  EXPECT_EQ(trace.select(Kind::kExit).size(), 1u);
}

TEST(ImportStrace, JoinsUnfinishedCallsAcrossProcesses) {
  const ImportedTrace trace = read_text(
      "10 12:00:00.000000 openat(AT_FDCWD</tmp>, \"f\", O_WRONLY|O_CREAT|O_APPEND, 0666) = 3</tmp/f>\n"
      "10 12:00:00.000100 pipe2([4<pipe:[77]>, 5<pipe:[77]>], O_CLOEXEC) = 0\n"
      "10 12:00:00.000200 clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|SIGCHLD <unfinished ...>\n"
      "11 12:00:00.000300 write(3</tmp/f>, \"abc\", 3 <unfinished ...>\n"
      "10 12:00:00.000350 <... clone resumed>, child_tidptr=0x1) = 11\n"
      "10 12:00:00.000360 read(4<pipe:[77]>,  <unfinished ...>\n"
      "11 12:00:00.000400 <... write resumed>) = 3\n"
      "11 12:00:00.000500 write(5<pipe:[77]>, \"z\", 1) = 1\n"
      "10 12:00:00.000550 <... read resumed>\"z\", 8) = 1\n"
      "11 12:00:00.000600 +++ exited with 0 +++\n"
      "10 12:00:00.000650 --- SIGCHLD {si_signo=SIGCHLD, si_pid=11} ---\n"
      "10 12:00:00.000700 futex(0x1, FUTEX_WAIT, 1, NULL <unfinished ...>\n"
      "10 12:00:00.000800 <... futex resumed>) = 0\n"
      "10 12:00:00.000900 +++ exited with 0 +++\n");
  EXPECT_TRUE(trace.description.complete);
  EXPECT_TRUE(trace.description.missed.empty());
  ASSERT_EQ(trace.description.processes.size(), 2u);
  EXPECT_EQ(trace.description.processes[1].parent, 10u);
  const auto writes = trace.select(Kind::kWrite);
  ASSERT_EQ(writes.size(), 2u);
  EXPECT_EQ(writes[0].process, 11u);
  EXPECT_EQ(writes[0].offset, kUnknown);  // at the end of the file, whose position is unknown
  EXPECT_TRUE(writes[0].flags & flag::kAppend);
  EXPECT_EQ(trace.name(writes[0]), "/tmp/f");
  EXPECT_EQ(trace.name(writes[1]), "pipe:[77]");
  const auto reads = trace.select(Kind::kRead);
  ASSERT_EQ(reads.size(), 1u);
  EXPECT_EQ(reads[0].start, 360'000);
  EXPECT_EQ(reads[0].length, 8);
  EXPECT_EQ(trace.select(Kind::kFork).at(0).operation, 11u);
}

TEST(ImportStrace, ThreadsShareTheFilesOfTheirProcess) {
  const ImportedTrace trace = read_text(
      "5 0.000000 openat(AT_FDCWD, \"f\", O_RDWR) = 3\n"
      "5 0.000010 clone3({flags=CLONE_VM|CLONE_FILES|CLONE_THREAD, child_tid=0x7f, exit_signal=0}, 88) = 6\n"
      "6 0.000010 write(3, \"abcd\", 4) = 4\n"
      "5 0.000010 write(3, \"ef\", 2) = 2\n"
      "6 0.000010 +++ exited with 0 +++\n"
      "5 0.000010 +++ exited with 0 +++\n");
  const auto writes = trace.select(Kind::kWrite);
  ASSERT_EQ(writes.size(), 2u);
  EXPECT_EQ(writes[0].process, 5u);
  EXPECT_EQ(writes[0].thread, 6u);
  EXPECT_EQ(writes[1].offset, 4);
  EXPECT_EQ(trace.description.processes.size(), 1u);
  EXPECT_EQ(trace.select(Kind::kExit).size(), 1u);
}

TEST(ImportStrace, RequestsHaveTheFlagsOfTheirOpen) {
  const ImportedTrace trace = read_text(
      "openat(AT_FDCWD, \"a\", O_RDWR|O_DIRECT) = 3\n"
      "openat(AT_FDCWD, \"b\", O_WRONLY|O_CREAT|O_DSYNC, 0600) = 4\n"
      "openat(AT_FDCWD, \"c\", O_RDWR|O_DIRECTORY|O_SYNC) = 5\n"
      "read(3, \"x\", 1) = 1\n"
      "write(3, \"x\", 1) = 1\n"
      "write(4, \"x\", 1) = 1\n"
      "read(5, \"x\", 1) = 1\n"
      "write(5, \"x\", 1) = 1\n");
  const auto flags = [&](Kind kind, std::size_t at) {
    return trace.select(kind)[at].flags & (flag::kDirect | flag::kDurable);
  };
  EXPECT_EQ(flags(Kind::kOpen, 0), flag::kDirect);
  EXPECT_EQ(flags(Kind::kOpen, 1), flag::kDurable);
  EXPECT_EQ(flags(Kind::kRead, 0), flag::kDirect);
  EXPECT_EQ(flags(Kind::kWrite, 0), flag::kDirect);
  EXPECT_EQ(flags(Kind::kWrite, 1), flag::kDurable);
  EXPECT_EQ(flags(Kind::kRead, 1), 0);
  EXPECT_EQ(flags(Kind::kWrite, 2), flag::kDurable);
}

TEST(ImportStrace, ReadsVectorsCopiesAndQueues) {
  const ImportedTrace trace = read_text(
      "openat(AT_FDCWD, \"a\", O_RDWR) = 3\n"
      "openat(AT_FDCWD, \"b\", O_RDWR|O_DIRECT) = 4\n"
      "writev(3, [{iov_base=\"ab, iov_len=9\", iov_len=2}, {iov_base=\"c\", iov_len=5}], 2) = 7\n"
      "preadv2(3, [{iov_base=\"\", iov_len=100}], 1, 50, RWF_HIPRI) = -1 EAGAIN (Resource temporarily unavailable)\n"
      "sendfile(4, 3, [0] => [3], 10) = 3\n"
      "copy_file_range(3, NULL, 4, NULL, 4096, 0) = 20\n"
      "io_submit(0x7f, 2, [{aio_data=0x1, aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=3, aio_buf=0x5, aio_nbytes=4096, "
      "aio_offset=8192}, {aio_data=0x2, aio_lio_opcode=IOCB_CMD_PWRITE, aio_fildes=4, aio_buf=\"x\"..., "
      "aio_nbytes=512, aio_offset=0}]) = 2\n"
      "io_uring_enter(5, 32, 1, IORING_ENTER_GETEVENTS, NULL, 8) = 32\n"
      "mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, 3, 0x1000) = 0x7f0000000000\n"
      "mmap(NULL, 8192, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f0000000000\n"
      "dup2(3, 9) = 9\n"
      "read(9, \"\", 1) = 0\n");
  const auto writes = trace.select(Kind::kWrite);
  ASSERT_EQ(writes.size(), 4u);
  EXPECT_EQ(writes[0].length, 7);
  EXPECT_EQ(writes[0].interface, Interface::kVector);
  const auto reads = trace.select(Kind::kRead);
  ASSERT_EQ(reads.size(), 5u);
  EXPECT_EQ(reads[0].result, -EAGAIN);
  EXPECT_EQ(reads[0].offset, 50);
  EXPECT_EQ(reads[1].interface, Interface::kCopy);
  EXPECT_EQ(reads[1].offset, 0);
  EXPECT_EQ(reads[1].operation, writes[1].operation);
  EXPECT_EQ(writes[1].offset, 0);
  EXPECT_EQ(trace.name(writes[1]), "b");
  EXPECT_EQ(reads[2].offset, 7);
  EXPECT_EQ(reads[2].result, 20);
  EXPECT_EQ(writes[2].offset, 3);
  EXPECT_EQ(reads[3].interface, Interface::kAio);
  EXPECT_EQ(reads[3].offset, 8192);
  EXPECT_EQ(writes[3].length, 512);
  EXPECT_EQ(reads[4].offset, 27);  // the same open under another descriptor
  EXPECT_EQ(trace.select(Kind::kMap).size(), 1u);
  EXPECT_EQ(trace.select(Kind::kMap)[0].offset, 0x1000);
  EXPECT_TRUE(trace.select(Kind::kOpen)[1].flags & flag::kDirect);
  ASSERT_EQ(trace.description.missed.size(), 1u);
  EXPECT_EQ(trace.description.missed[0].events, 32);
  EXPECT_TRUE(trace.has_note("io_submit"));
  EXPECT_TRUE(trace.has_note("no times"));
}

TEST(ImportStrace, ReportsUnreadableLines) {
  const ImportedTrace trace = read_text(
      "read(0, \"x\", 1) = 1\n"
      "gibberish\n"
      "read(0, \"x\", 99999999999999999999999) = 99999999999999999999\n"
      "read(0) = 1\n"
      "write(1, \"x\", 0) = 0\n"
      "<... write resumed>) = 3\n"
      "read(0, \"x\", 1) = ? ERESTARTSYS (To be restarted)\n"
      "some_call_of_tomorrow(1, 2) = 3\n"
      "read(0, \"cut",
      options_for("strace"));
  EXPECT_FALSE(trace.description.complete);
  ASSERT_EQ(trace.description.missed.size(), 1u);
  EXPECT_EQ(trace.description.missed[0].events, 3);
  EXPECT_TRUE(trace.has_note("the first is number 2: 'gibberish'"));
  EXPECT_TRUE(trace.has_note("an end and no beginning"));
  ASSERT_EQ(trace.select(Kind::kRead).size(), 2u);
  EXPECT_EQ(trace.select(Kind::kRead)[1].result, -EINTR);
  EXPECT_EQ(trace.name(trace.select(Kind::kWrite).at(0)), "stdout");
}

TEST(ImportStrace, ReadsOutputAsShownOnATerminal) {
  const ImportedTrace trace = read_text(
      "openat(AT_FDCWD, \"f\", O_RDONLY) = 3\n"
      "clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLDstrace: Process 21 attached\n"
      " <unfinished ...>\n"
      "[pid    21] read(3,  <unfinished ...>\n"
      "[pid    20] <... clone resumed>, child_tidptr=0x7f) = 21\n"
      "[pid    21] <... read resumed>\"abc\", 3) = 3\n"
      "[pid    20] read(3, \"def\", 3) = 3\n"
      "[pid    21] +++ killed by SIGKILL +++\n"
      "read(3, \"\", 3) = 0\n"
      "+++ exited with 0 +++\n");
  const auto reads = trace.select(Kind::kRead);
  ASSERT_EQ(reads.size(), 3u);
  EXPECT_EQ(reads[0].process, 21u);
  EXPECT_EQ(reads[1].process, reads[2].process);
  EXPECT_EQ(reads[1].offset, 3);  // parent and child share the position
  EXPECT_EQ(trace.description.processes.size(), 2u);
  EXPECT_TRUE(trace.description.missed.empty());
}

TEST(ImportStrace, TimesOfDayPassMidnight) {
  const ImportedTrace trace = read_text(
      "23:59:59 read(0, \"x\", 1) = 1\n"
      "00:00:01 read(0, \"x\", 1) = 1\n");
  EXPECT_EQ(trace.events.at(1).start, 2'000'000'000);
  const ImportedTrace relative = read_text(
      "     0.000000 read(0, \"x\", 1) = 1\n"
      "     0.500000 read(0, \"x\", 1) = 1\n"
      "     0.250000 read(0, \"x\", 1) = 1\n");
  EXPECT_EQ(relative.events.at(2).start, 750'000'000);
}

TEST(ImportStrace, DescriptorsCloseAtExec) {
  const ImportedTrace trace = read_text(
      "openat(AT_FDCWD, \"gone\", O_RDONLY|O_CLOEXEC) = 3\n"
      "openat(AT_FDCWD, \"kept\", O_RDONLY) = 4\n"
      "execve(\"/bin/x\", [\"x\"], 0x1 /* 2 vars */) = 0\n"
      "read(3, \"\", 1) = 0\n"
      "read(4, \"\", 1) = 0\n"
      "close_range(3, 4294967295, 0) = 0\n"
      "read(4, \"\", 1) = 0\n");
  const auto reads = trace.select(Kind::kRead);
  EXPECT_EQ(trace.name(reads.at(0)), "descriptor 3, opened before the trace");
  EXPECT_EQ(trace.name(reads.at(1)), "kept");
  EXPECT_EQ(trace.name(reads.at(2)), "descriptor 4, opened before the trace");
}

TEST(ImportStrace, ALongCallDoesNotDelayOtherEvents) {
  std::string text = "7 1.000000 read(0,  <unfinished ...>\n";
  constexpr int kCalls = 200'000;
  for (int k = 0; k < kCalls; ++k) text += "8 0.000001 write(1, \"x\", 1) = 1\n";
  text += "7 0.000001 <... read resumed>\"abc\", 3) = 3\n";
  const ImportedTrace trace = read_text(text);
  EXPECT_EQ(trace.events.size(), kCalls + 1u);
  EXPECT_EQ(trace.select(Kind::kRead).at(0).result, 3);
  EXPECT_TRUE(trace.has_note("too late"));
}

TEST(ImportStrace, AChildHasTheCommandOfItsExec) {
  std::string text =
      "10 1.000000 execve(\"/bin/sh\", [\"sh\"], 0x1 /* 2 vars */) = 0\n"
      "10 0.000001 clone(child_stack=NULL, flags=SIGCHLD) = 11\n"
      "11 0.000001 openat(AT_FDCWD, \"out\", O_WRONLY|O_CREAT, 0666) = 3\n"
      "11 0.000001 dup2(3, 1) = 1\n"
      "10 0.000001 write(1, \"x\", 1) = 1\n"
      "11 0.000001 execve(\"/bin/cat\", [\"cat\", \"in\"], 0x1 /* 2 vars */) = 0\n"
      "11 0.000001 write(1, \"abc\", 3) = 3\n"
      "10 0.000001 clone(child_stack=NULL, flags=SIGCHLD) = 12\n"
      "12 0.000001 stat(\"a\", {st_mode=S_IFREG}) = 0\n";
  for (int k = 0; k < 5000; ++k) text += "10 0.000001 write(1, \"x\", 1) = 1\n";
  text += "12 0.000001 execve(\"/bin/late\", [\"late\"], 0x1 /* 2 vars */) = 0\n";
  const ImportedTrace trace = read_text(text);
  ASSERT_EQ(trace.description.processes.size(), 3u);
  EXPECT_EQ(trace.description.processes[0].command, "sh");
  EXPECT_EQ(trace.description.processes[1].command, "cat in");
  EXPECT_EQ(trace.description.processes[1].parent, 10u);
  EXPECT_EQ(trace.description.processes[2].command, "sh");  // later events do not wait for its exec
  EXPECT_EQ(trace.name(trace.select(Kind::kOpen).at(0)), "out");
}

TEST(ImportStrace, PositionsOf32BitPrograms) {
  const ImportedTrace trace = read_text(
      "open(\"a\", O_RDONLY) = 3\n"
      "_llseek(3, 4096, [4096], SEEK_SET) = 0\n"
      "read(3, \"x\", 10) = 10\n");
  EXPECT_EQ(trace.select(Kind::kSeek).at(0).offset, 4096);
  EXPECT_EQ(trace.select(Kind::kRead).at(0).offset, 4096);
}

TEST(ImportStrace, CountsCallsThatHaveNoEvents) {
  const ImportedTrace trace = read_text(
      "sendto(3, \"abc\", 3, 0, NULL, 0) = 3\n"
      "recvfrom(3, \"abcde\", 100, 0, NULL, NULL) = 5\n"
      "recvmsg(3, {msg_name=NULL}, 0) = -1 EAGAIN (Resource temporarily unavailable)\n"
      "vmsplice(4, [{iov_base=\"x\", iov_len=1}], 1, 0) = 1\n");
  EXPECT_TRUE(trace.events.empty());
  ASSERT_EQ(trace.description.missed.size(), 1u);
  EXPECT_EQ(trace.description.missed[0].events, 4);
  EXPECT_EQ(trace.description.missed[0].read_bytes, 5);
  EXPECT_EQ(trace.description.missed[0].written_bytes, 4);
}

}  // namespace
