// Imports of traces of block devices: vSCSI, oracleGeneral, CSV, fio and blktrace.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "import_case.hpp"
#include "plait/error.hpp"

namespace {

using plait::trace::Event;
using plait::trace::Interface;
using plait::trace::Kind;
using plait::trace::kUnknown;
using plait_test::ImportedTrace;
using plait_test::options_for;
using plait_test::read_text;

/// Returns the bytes of a number, lowest first.
template <typename Number>
std::string little_endian(Number value) {
  std::string out;
  for (std::size_t k = 0; k < sizeof(Number); ++k) {
    out += static_cast<char>(value & 0xff);
    value = static_cast<Number>(value >> (sizeof(Number) > 1 ? 8 : 0));
  }
  return out;
}

std::string vscsi1_record(std::uint16_t command, std::uint32_t length, std::uint64_t block, std::uint64_t time) {
  return little_endian(std::uint32_t{1}) + little_endian(length) + little_endian(std::uint32_t{1}) +
         little_endian(command) + little_endian(std::uint16_t{0x100}) + little_endian(block) + little_endian(time);
}

std::string vscsi2_record(std::uint16_t command, std::uint32_t length, std::uint64_t block, std::uint64_t time,
                          std::uint64_t response) {
  return little_endian(command) + little_endian(std::uint16_t{0x200}) + little_endian(std::uint32_t{1}) +
         little_endian(length) + little_endian(std::uint32_t{1}) + little_endian(block) + little_endian(time) +
         little_endian(response);
}

std::string oracle_record(std::uint32_t time, std::uint64_t object, std::uint32_t size, std::int64_t next) {
  return little_endian(time) + little_endian(object) + little_endian(size) +
         little_endian(static_cast<std::uint64_t>(next));
}

std::string catch_error(const std::string& text, const plait::trace::ReadOptions& options) {
  try {
    read_text(text, options);
  } catch (const plait::Error& error) {
    EXPECT_EQ(error.kind(), plait::ErrorKind::kArgument);
    return error.what();
  }
  return "";
}

TEST(ImportVscsi, ReadsBothVersions) {
  const ImportedTrace one = read_text(vscsi1_record(0x28, 4096, 16, 1000) + vscsi1_record(0x2a, 512, 1, 3000) +
                                      vscsi1_record(0x12, 0, 0, 3500));
  EXPECT_EQ(one.description.format, "vscsi");
  ASSERT_EQ(one.events.size(), 2u);
  EXPECT_EQ(one.events[0].kind, Kind::kRead);
  EXPECT_EQ(one.events[0].offset, 8192);
  EXPECT_EQ(one.events[0].flags, 0);  // physical: a request to a device
  EXPECT_EQ(one.events[1].start, 2'000'000);
  EXPECT_EQ(one.events[1].duration, kUnknown);
  EXPECT_TRUE(one.has_note("1 record of another SCSI command is left out"));
  const ImportedTrace two = read_text(vscsi2_record(0x8a, 65536, 2, 50, 700) + vscsi2_record(0x35, 0, 0, 60, 5) +
                                      vscsi2_record(0x88, 0, 9, 70, 1) + std::string(7, 'x'));
  ASSERT_EQ(two.events.size(), 3u);
  EXPECT_EQ(two.events[0].kind, Kind::kWrite);
  EXPECT_EQ(two.events[0].duration, 700'000);
  EXPECT_EQ(two.events[1].kind, Kind::kSync);
  EXPECT_EQ(two.events[2].length, 0);
  EXPECT_FALSE(two.description.complete);
  EXPECT_NE(catch_error(std::string(200, 'q'), options_for("vscsi")).find("32 or 40"), std::string::npos);
}

TEST(ImportVscsi, SortsIssuesAndBoundsNumbers) {
  const ImportedTrace trace = read_text(vscsi1_record(0x28, 1, ~std::uint64_t{0}, 100) + vscsi1_record(0x28, 2, 0, 90) +
                                        vscsi1_record(0x28, 3, 0, ~std::uint64_t{0}));
  ASSERT_EQ(trace.events.size(), 3u);
  EXPECT_GE(trace.events[0].offset, 0);
  EXPECT_GT(trace.events[2].start, 0);
}

TEST(ImportOracle, ShowsObjectsAsReads) {
  const std::int64_t never = -1;
  const ImportedTrace trace =
      read_text(oracle_record(10, 7, 100, 3) + oracle_record(10, 8, 0, never) + oracle_record(12, 7, 100, never) +
                oracle_record(13, ~std::uint64_t{0}, 4'000'000'000u, never));
  EXPECT_EQ(trace.description.format, "oracle-general");
  ASSERT_EQ(trace.events.size(), 4u);
  EXPECT_EQ(trace.events[0].offset, trace.events[2].offset);
  EXPECT_EQ(trace.events[1].offset - trace.events[0].offset, 1 << 20);
  EXPECT_EQ(trace.events[2].start, 2'000'000'000);
  EXPECT_EQ(trace.events[3].length, 4'000'000'000);
  EXPECT_GE(trace.events[3].offset, 0);
  EXPECT_TRUE(trace.has_note("hashed"));
  const ImportedTrace cut = read_text(oracle_record(10, 7, 100, 3).substr(0, 20), options_for("oracle-general"));
  EXPECT_FALSE(cut.description.complete);
  EXPECT_TRUE(cut.events.empty());
}

TEST(ImportBlkcsv, TakesColumnsFromTheFirstLine) {
  const ImportedTrace trace = read_text(
      "Timestamp_us, RW, LBA, Size, disk\n"
      "5, R, 2, 4096, sda\n"
      "# a remark\n"
      "7.5, W, 10, 512, sdb\n"
      "8, ?, 10, 512, sdb\n"
      "9, w, 10\n");
  EXPECT_EQ(trace.description.format, "blkcsv");
  ASSERT_EQ(trace.events.size(), 2u);
  EXPECT_EQ(trace.events[0].offset, 1024);
  EXPECT_EQ(trace.events[1].start, 2500);
  EXPECT_EQ(trace.events[1].kind, Kind::kWrite);
  EXPECT_EQ(trace.name(trace.events[1]), "sdb");
  EXPECT_EQ(trace.events[1].interface, Interface::kBlock);
  ASSERT_EQ(trace.description.missed.size(), 1u);
  EXPECT_EQ(trace.description.missed[0].events, 2);
}

TEST(ImportBlkcsv, TakesColumnsFromTheOption) {
  const ImportedTrace trace = read_text("device;op;x;at;bytes\n3;W;junk;0;0\n4;R;junk;99999999999999999999999;512\n",
                                        options_for("blkcsv", "device,op,-,offset,size"));
  ASSERT_EQ(trace.events.size(), 2u);
  EXPECT_EQ(trace.events[0].length, 0);
  EXPECT_GT(trace.events[1].offset, std::int64_t{1} << 61);
  EXPECT_TRUE(trace.has_note("no times"));
  EXPECT_TRUE(trace.description.missed.empty());
  EXPECT_NE(catch_error("1,2\n", options_for("blkcsv", "time,colour")).find("'colour'"), std::string::npos);
  EXPECT_NE(catch_error("1,2\n", options_for("blkcsv", "time,size")).find("no offset"), std::string::npos);
  EXPECT_NE(catch_error("1,2\n", options_for("blkcsv")).find("--columns"), std::string::npos);
}

TEST(ImportBlkcsv, RecognizesTheTracesOfCambridge) {
  const ImportedTrace trace = read_text(
      "128166372003061629,hm,1,Read,383496192,32768,41386\n"
      "128166372016382155,hm,1,Write,2822144,4096,1360\n"
      "128166372026382155,hm,0,Wri");
  ASSERT_EQ(trace.events.size(), 2u);
  EXPECT_EQ(trace.events[0].duration, 4'138'600);
  EXPECT_EQ(trace.events[1].start, (128166372016382155 - 128166372003061629) * 100);
  EXPECT_EQ(trace.name(trace.events[0]), "hm/1");
  EXPECT_FALSE(trace.description.complete);
}

TEST(ImportFio, ReadsBothVersions) {
  const ImportedTrace three = read_text(
      "fio version 3 iolog\n"
      "27 /data/a file add\n"
      "169 /data/a file open\n"
      "177 /data/a file read 0 16384\n"
      "461 /data/a file write 180224 0\n"
      "500 /data/a file datasync 0 0\n"
      "501 /data/a file trim 0 4096\n"
      "600 /data/a file close\n"
      "600 /data/a file fly 1 2\n"
      "601 /data/a file read 0 163");
  EXPECT_EQ(three.description.format, "fio");
  ASSERT_EQ(three.events.size(), 7u);
  EXPECT_EQ(three.events[1].start, 177'000);
  EXPECT_EQ(three.events[1].length, 16384);
  EXPECT_EQ(three.name(three.events[1]), "/data/a file");
  EXPECT_EQ(three.events[2].length, 0);
  EXPECT_EQ(three.events[3].kind, Kind::kSync);
  EXPECT_FALSE(three.description.complete);
  EXPECT_TRUE(three.has_note("not understood"));
  EXPECT_TRUE(three.has_note("taken to have succeeded"));
  const ImportedTrace two = read_text(
      "fio version 2 iolog\n"
      "/dev/sda add\n"
      "/dev/sda open\n"
      "/dev/sda read 0 512\n"
      "/dev/sda wait 1500 0\n"
      "/dev/sda write 512 512\n"
      "/dev/sda close\n");
  ASSERT_EQ(two.events.size(), 4u);
  EXPECT_GE(two.events[2].start - two.events[1].start, 1'500'000);
  EXPECT_TRUE(two.description.complete);
  EXPECT_NE(catch_error("hello\n", options_for("fio")).find("fio version 3"), std::string::npos);
}

constexpr std::string_view kBlkparse =
    "  8,0    1        1     0.000000000   697  A   W 223490 + 8 <- (8,3) 100\n"
    "  8,0    1        2     0.000001000   697  Q   W 223490 + 8 [kjournald]\n"
    "  8,0    1        3     0.000002000   697  G   W 223490 + 8 [kjournald]\n"
    "  8,0    1        4     0.000003000   697  P   N [kjournald]\n"
    "  8,0    1        5     0.000004000   697  Q   W 223498 + 8 [kjournald]\n"
    "  8,0    1        6     0.000005000   697  M   W 223498 + 8 [kjournald]\n"
    "  8,0    1        7     0.000006000   697  Q  RA 900 + 8 [reader]\n"
    "  8,0    1        8     0.000010000   697  D   W 223490 + 16 [kjournald]\n"
    "  8,0    1        9     0.000011000     0  D  RA 900 + 8 [reader]\n"
    "  8,16   0        1     0.000012000     5  Q WFS 8 + 8 [other]\n"
    "  8,0    1       10     0.000020000     0  C  RA 900 + 8 [0]\n"
    "  8,0    1       11     0.000360000     0  C   W 223490 + 16 [0]\n"
    "  8,16   0        2     0.000400000     0  C WFS 8 + 8 [0]\n"
    "  8,16   0        3     0.000500000     5  Q   R 64 + 8 [other]\n"
    "CPU0 (8,16):\n"
    " Reads Queued:           1,        4KiB\t Writes Queued:           1,        4KiB\n"
    "Total (8,0):\n";

TEST(ImportBlktrace, CombinesTheLinesOfARequest) {
  const ImportedTrace trace = read_text(kBlkparse);
  EXPECT_EQ(trace.description.format, "blktrace");
  ASSERT_EQ(trace.events.size(), 4u);
  const Event& write = trace.events[0];
  EXPECT_EQ(write.kind, Kind::kWrite);
  EXPECT_EQ(write.offset, 223490 * 512);
  EXPECT_EQ(write.length, 16 * 512);
  EXPECT_EQ(write.start, 9'000);
  EXPECT_EQ(write.duration, 350'000);
  EXPECT_EQ(trace.events[1].kind, Kind::kRead);
  EXPECT_EQ(trace.events[1].duration, 9'000);
  EXPECT_EQ(trace.events[2].start, 11'000);  // time of queueing, because there is no line D
  EXPECT_EQ(trace.events[2].duration, 388'000);
  EXPECT_NE(trace.events[2].flags & plait::trace::flag::kDurable, 0);
  EXPECT_EQ(trace.name(trace.events[2]), "8,16");
  EXPECT_EQ(trace.events[3].duration, kUnknown);  // in flight at the end
  EXPECT_TRUE(trace.has_note("1 request has no line C; how long it took"));
  EXPECT_TRUE(trace.description.missed.empty());
}

TEST(ImportBlktrace, DistinguishesRequestsAtTheSameOffset) {
  const ImportedTrace trace = read_text(
      "8,0 0 1 1.0 7 Q R 8 + 8 [a]\n8,0 0 2 1.1 7 Q R 8 + 8 [b]\n"
      "8,0 0 3 1.2 7 D R 8 + 8 [a]\n8,0 0 4 1.3 7 R R 8 + 8 [0]\n8,0 0 5 1.4 7 D R 8 + 8 [a]\n"
      "8,0 0 6 1.5 7 C R 8 + 8 [0]\n8,0 0 7 1.6 7 D R 8 + 8 [b]\n8,0 0 8 1.7 7 C R 8 + 8 [0]\n");
  ASSERT_EQ(trace.events.size(), 2u);
  EXPECT_EQ(trace.events[0].start, 400'000'000);
  EXPECT_EQ(trace.events[0].duration, 100'000'000);
  EXPECT_EQ(trace.events[1].start, 600'000'000);
}

/// Returns the requests of a trace on one device, options_for "sectors from start to end" in tenths of a second.
std::string list_requests(std::string_view lines) {
  const ImportedTrace trace = read_text(std::string(lines), options_for("blktrace"));
  std::string text;
  for (const Event& event : trace.events) {
    text += std::to_string(event.offset / 512) + "+" + std::to_string(event.length / 512) + " from ";
    text += std::to_string(event.start / 100'000'000);
    if (event.duration != kUnknown) text += " to " + std::to_string((event.start + event.duration) / 100'000'000);
    text += "; ";
  }
  return text;
}

TEST(ImportBlktrace, RequestsThatCompleteInPartsBeginWhenTheWholeIsIssued) {
  constexpr std::string_view kBegin = "8,0 0 1 1.0 7 Q R 0 + 16 [a]\n8,0 0 2 1.2 7 D R 0 + 16 [a]\n";
  const auto after = [&](std::string_view lines) { return list_requests(std::string(kBegin) + std::string(lines)); };
  constexpr std::string_view kFirst = "8,0 0 3 1.3 0 C R 0 + 8 [0]\n";
  constexpr std::string_view kSecond = "8,0 0 4 1.4 0 C R 8 + 8 [0]\n";
  EXPECT_EQ(after(std::string(kFirst) + std::string(kSecond)), "0+8 from 2 to 3; 8+8 from 2 to 4; ");
  EXPECT_EQ(after(kSecond), "8+8 from 2 to 4; 0+8 from 2; ");
  EXPECT_EQ(after(kFirst), "0+8 from 2 to 3; 8+8 from 2; ");
  EXPECT_EQ(after("8,0 0 3 1.3 0 C R 4 + 4 [0]\n8,0 0 4 1.4 0 C R 0 + 4 [0]\n8,0 0 5 1.5 0 C R 8 + 8 [0]\n"),
            "4+4 from 2 to 3; 0+4 from 2 to 4; 8+8 from 2 to 5; ");
  // The rest is requeued, issued again and completed.
  EXPECT_EQ(after(std::string(kFirst) + "8,0 0 4 1.4 0 R R 8 + 8 [0]\n8,0 0 5 1.5 7 D R 8 + 8 [a]\n"
                                        "8,0 0 6 1.6 0 C R 8 + 8 [0]\n"),
            "0+8 from 2 to 3; 8+8 from 5 to 6; ");
  // Without the lines D.
  EXPECT_EQ(list_requests("8,0 0 1 1.0 7 Q R 0 + 16 [a]\n8,0 0 2 1.3 0 C R 0 + 8 [0]\n8,0 0 3 1.4 0 C R 8 + 8 [0]\n"),
            "0+8 from 0 to 3; 8+8 from 0 to 4; ");
}

TEST(ImportBlktrace, CompletionsMatchTheRequestOfTheirLength) {
  EXPECT_EQ(list_requests("8,0 0 1 1.0 7 D R 0 + 8 [a]\n8,0 0 2 1.1 7 D R 0 + 16 [b]\n8,0 0 3 1.2 0 C R 0 + 16 [0]\n"
                          "8,0 0 4 1.3 0 C R 0 + 8 [0]\n"),
            "0+8 from 0 to 3; 0+16 from 1 to 2; ");
}

TEST(ImportBlktrace, NotesAgreeWithTheirNumbers) {
  constexpr std::string_view kLate = "8,0 0 1 1.0 7 C R 0 + 8 [0]\n8,0 0 2 1.1 7 Q R 8 + 8 [a]\n";
  EXPECT_TRUE(read_text(std::string(kLate)).has_note("1 request has no line C; how long it took is not known"));
  EXPECT_TRUE(read_text(std::string(kLate) + "8,0 0 2 1.1 7 Q R 24 + 8 [a]\n8,0 0 3 1.2 7 Q N [a]\n")
                  .has_note("2 requests have no line C; how long they took is not known"));
}

TEST(ImportBlktrace, KeepsEachRequestOfATraceThatOnlyQueues) {
  std::string text;
  constexpr int kRequests = 200'000;
  for (int k = 0; k < kRequests; ++k) {
    text += "8,0 0 " + std::to_string(k) + " 1." + std::to_string(100'000 + k) + " 7 Q W ";
    text += std::to_string(k % 100) + " + 8 [a]\n";
  }
  const ImportedTrace trace = read_text(text);
  EXPECT_EQ(trace.events.size(), std::size_t{kRequests});
}

TEST(ImportBlkcsv, CombinesLinesWithActions) {
  const std::string text =
      "action,time,op,lba,blocks,disk\nQ,1,W,0,8,sda\nM,1,W,8,8,sda\nD,2,W,0,16,sda\nC,5,W,0,16,sda\n";
  const ImportedTrace trace = read_text(text);
  ASSERT_EQ(trace.events.size(), 1u);
  EXPECT_EQ(trace.events[0].length, 16 * 512);
  EXPECT_EQ(trace.events[0].duration, 3'000'000'000);
  const ImportedTrace lines = read_text(kBlkparse.substr(0, kBlkparse.find("CPU0")),
                                        options_for("blkcsv", "device,-,-,time,-,-,op,lba,-,blocks"));
  EXPECT_TRUE(lines.has_note("several lines for one request"));
}

TEST(ImportAny, AFileWithoutAValidLineIsRejected) {
  const std::string text = "first line of\nsome other thing\n3\n4\n";
  for (const char* name : {"strace", "blktrace"}) {
    const std::string error = catch_error(text, options_for(name));
    EXPECT_NE(error.find("no line of trace was understood as " + std::string(name)), std::string::npos) << error;
    EXPECT_NE(error.find("'first line of', 'some other thing', '3';"), std::string::npos) << error;
    EXPECT_NE(error.find("one of: plait, blktrace, blkcsv"), std::string::npos) << error;
  }
  EXPECT_NE(catch_error("hello", options_for("strace")).find("'hello'"), std::string::npos);
  EXPECT_NE(catch_error("x\ny\n", options_for("blkcsv", "time,lba")).find("no line of"), std::string::npos);
  EXPECT_NE(catch_error("fio version 3 iolog\nhello\n", options_for("fio")).find("'hello'"), std::string::npos);
  EXPECT_EQ(read_text("junk\n+++ exited with 0 +++\n", options_for("strace")).events.size(), 1u);
}

TEST(ImportAny, AnEmptyFileIsAnEmptyTraceOrRejected) {
  for (const char* name : {"fio", "strace", "vscsi", "blkcsv", "blktrace", "oracle-general"}) {
    const ImportedTrace trace = read_text("", options_for(name));
    EXPECT_TRUE(trace.events.empty()) << name;
  }
}

}  // namespace
