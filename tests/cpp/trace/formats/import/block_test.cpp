#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "import_case.hpp"
#include "plait/error.hpp"

namespace {

using plait::trace::Interface;
using plait::trace::Kind;
using plait::trace::kUnknown;
using plait_test::as;
using plait_test::Read;
using plait_test::read_text;

template <typename Number>
std::string bytes(Number value) {
  std::string out;
  for (std::size_t k = 0; k < sizeof(Number); ++k) {
    out += static_cast<char>(value & 0xff);
    value = static_cast<Number>(value >> (sizeof(Number) > 1 ? 8 : 0));
  }
  return out;
}

std::string vscsi1(std::uint16_t command, std::uint32_t length, std::uint64_t block, std::uint64_t time) {
  return bytes(std::uint32_t{1}) + bytes(length) + bytes(std::uint32_t{1}) + bytes(command) +
         bytes(std::uint16_t{0x100}) + bytes(block) + bytes(time);
}

std::string vscsi2(std::uint16_t command, std::uint32_t length, std::uint64_t block, std::uint64_t time,
                   std::uint64_t response) {
  return bytes(command) + bytes(std::uint16_t{0x200}) + bytes(std::uint32_t{1}) + bytes(length) +
         bytes(std::uint32_t{1}) + bytes(block) + bytes(time) + bytes(response);
}

std::string oracle(std::uint32_t time, std::uint64_t object, std::uint32_t size, std::int64_t next) {
  return bytes(time) + bytes(object) + bytes(size) + bytes(static_cast<std::uint64_t>(next));
}

std::string refused(const std::string& text, const plait::trace::ReadOptions& options) {
  try {
    read_text(text, options);
  } catch (const plait::Error& error) {
    EXPECT_EQ(error.kind(), plait::ErrorKind::kArgument);
    return error.what();
  }
  return "";
}

TEST(ImportVscsi, ReadsBothVersions) {
  const Read one = read_text(vscsi1(0x28, 4096, 16, 1000) + vscsi1(0x2a, 512, 1, 3000) + vscsi1(0x12, 0, 0, 3500));
  EXPECT_EQ(one.description.format, "vscsi");
  ASSERT_EQ(one.events.size(), 2u);
  EXPECT_EQ(one.events[0].kind, Kind::kRead);
  EXPECT_EQ(one.events[0].offset, 8192);
  EXPECT_EQ(one.events[0].flags, 0);  // what reached a device
  EXPECT_EQ(one.events[1].start, 2'000'000);
  EXPECT_EQ(one.events[1].duration, kUnknown);
  EXPECT_TRUE(one.notes("1 records of other SCSI commands"));
  const Read two = read_text(vscsi2(0x8a, 65536, 2, 50, 700) + vscsi2(0x35, 0, 0, 60, 5) + vscsi2(0x88, 0, 9, 70, 1) +
                             std::string(7, 'x'));
  ASSERT_EQ(two.events.size(), 3u);
  EXPECT_EQ(two.events[0].kind, Kind::kWrite);
  EXPECT_EQ(two.events[0].duration, 700'000);
  EXPECT_EQ(two.events[1].kind, Kind::kSync);
  EXPECT_EQ(two.events[2].length, 0);
  EXPECT_FALSE(two.description.complete);
  EXPECT_NE(refused(std::string(200, 'q'), as("vscsi")).find("32 or 40"), std::string::npos);
}

TEST(ImportVscsi, PutsIssuesInOrderAndBoundsNumbers) {
  const Read trace = read_text(vscsi1(0x28, 1, ~std::uint64_t{0}, 100) + vscsi1(0x28, 2, 0, 90) +
                               vscsi1(0x28, 3, 0, ~std::uint64_t{0}));
  ASSERT_EQ(trace.events.size(), 3u);
  EXPECT_GE(trace.events[0].offset, 0);
  EXPECT_GT(trace.events[2].start, 0);
}

TEST(ImportOracle, ShowsObjectsAsReads) {
  const std::int64_t never = -1;
  const Read trace = read_text(oracle(10, 7, 100, 3) + oracle(10, 8, 0, never) + oracle(12, 7, 100, never) +
                               oracle(13, ~std::uint64_t{0}, 4'000'000'000u, never));
  EXPECT_EQ(trace.description.format, "oracle-general");
  ASSERT_EQ(trace.events.size(), 4u);
  EXPECT_EQ(trace.events[0].offset, trace.events[2].offset);
  EXPECT_EQ(trace.events[1].offset - trace.events[0].offset, 1 << 20);
  EXPECT_EQ(trace.events[2].start, 2'000'000'000);
  EXPECT_EQ(trace.events[3].length, 4'000'000'000);
  EXPECT_GE(trace.events[3].offset, 0);
  EXPECT_TRUE(trace.notes("hashed"));
  const Read cut = read_text(oracle(10, 7, 100, 3).substr(0, 20), as("oracle-general"));
  EXPECT_FALSE(cut.description.complete);
  EXPECT_TRUE(cut.events.empty());
}

TEST(ImportBlkcsv, TakesColumnsFromTheFirstLine) {
  const Read trace = read_text(
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
  const Read trace = read_text("device;op;x;at;bytes\n3;W;junk;0;0\n4;R;junk;99999999999999999999999;512\n",
                               as("blkcsv", "device,op,-,offset,size"));
  ASSERT_EQ(trace.events.size(), 2u);
  EXPECT_EQ(trace.events[0].length, 0);
  EXPECT_GT(trace.events[1].offset, std::int64_t{1} << 61);
  EXPECT_TRUE(trace.notes("no times"));
  EXPECT_TRUE(trace.description.missed.empty());
  EXPECT_NE(refused("1,2\n", as("blkcsv", "time,colour")).find("'colour'"), std::string::npos);
  EXPECT_NE(refused("1,2\n", as("blkcsv", "time,size")).find("no offset"), std::string::npos);
  EXPECT_NE(refused("1,2\n", as("blkcsv")).find("--columns"), std::string::npos);
}

TEST(ImportBlkcsv, KnowsTheTracesOfCambridge) {
  const Read trace = read_text(
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
  const Read three = read_text(
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
  EXPECT_TRUE(three.notes("not understood"));
  EXPECT_TRUE(three.notes("taken to have succeeded"));
  const Read two = read_text(
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
  EXPECT_NE(refused("hello\n", as("fio")).find("fio version 3"), std::string::npos);
}

TEST(ImportAny, NothingAtAllIsAnEmptyTraceOrRefused) {
  for (const char* name : {"fio", "strace", "vscsi", "blkcsv", "oracle-general"}) {
    const Read trace = read_text("", as(name));
    EXPECT_TRUE(trace.events.empty()) << name;
  }
}

}  // namespace
