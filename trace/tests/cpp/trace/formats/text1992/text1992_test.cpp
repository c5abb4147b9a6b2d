// The text format of 1992: each record of the appendix of the paper that defines it, cases that the appendix leaves
// open, and round trips.
#include <gtest/gtest.h>

#include <limits>

#include "plait/error.hpp"
#include "trace_text_case.hpp"

namespace plait::trace {
namespace {

Event make_logical_event(Kind kind, std::int64_t offset, std::int64_t length) {
  Event event;
  event.kind = kind;
  event.offset = offset;
  event.length = event.result = length;
  event.duration = 0;
  event.cpu = 0;
  event.process = 0x743e;
  event.file = 0x1d;
  event.operation = 0x89;
  return event;
}

std::vector<Event> read_events(std::string_view text, const ReadOptions& options = {}) {
  return read_text("1992", text, options).events;
}

std::string catch_error(std::string_view text, const ReadOptions& options = {}) {
  try {
    (void)read_events(text, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kArgument);
    return error.what();
  }
  return "";
}

// The numbers of figure 1, in the order of the structure in the appendix, with a processTime, which the figure lacks.
TEST(Trace1992, RecordWithAllFields) {
  Event event = make_logical_event(Kind::kWrite, 0x1000, 0x10);
  event.start = 0x5af8 * 1000;
  event.duration = 0x32c * 1000;
  event.cpu = 0x20 * 1000;
  event.flags = flag::kLogical | flag::kReadAhead | flag::kAsynchronous | flag::kCacheMiss | flag::kReadAheadHit;
  EXPECT_EQ(read_events("FA 0 1000 10 5AF8 32C 89 1D 743E 20\n"), std::vector{event});
  EXPECT_EQ(read_events("fa 0 1000 10 5af8 32c 89 1d 743e 20\n"), std::vector{event});
}

TEST(Trace1992, EveryRecordTypeFlag) {
  const auto flags = [](const char* type) {
    return read_events(std::string(type) + " 0 0 200 0 0 0 1 1 0\n").at(0).flags;
  };
  EXPECT_EQ(flags("80"), flag::kLogical);
  EXPECT_EQ(flags("00"), 0);
  EXPECT_EQ(flags("81"), flag::kLogical | flag::kMetaData);
  EXPECT_EQ(flags("82"), flag::kLogical | flag::kReadAhead);
  EXPECT_EQ(flags("83"), flag::kLogical | flag::kVirtualMemory);
  EXPECT_EQ(flags("88"), flag::kLogical | flag::kAsynchronous);
  EXPECT_EQ(flags("90"), flag::kLogical | flag::kReadAheadHit);
  EXPECT_EQ(flags("A0"), flag::kLogical | flag::kCacheMiss);
  EXPECT_EQ(flags("C0"), flag::kLogical);
  EXPECT_EQ(read_events("C0 0 0 200 0 0 0 1 1 0\n").at(0).kind, Kind::kWrite);
  EXPECT_EQ(read_events("80 0 0 200 0 0 0 1 1 0\n").at(0).kind, Kind::kRead);
}

// Compression flags, the second number of a record, name the fields that it omits and takes from earlier records.
TEST(Trace1992, EveryCompressionFlag) {
  const std::string first = "80 0 1000 200 0 0 5 1D 743E 0\n";
  const auto second = [&](const char* record) { return read_events(first + record + "\n").at(1); };
  Event expected = make_logical_event(Kind::kRead, 0x1200, 0x200);
  expected.operation = 5;
  EXPECT_EQ(second("80 EC 0 0 0"), expected);  // only the five fields that are always present
  expected.offset = 0x400;
  EXPECT_EQ(second("80 AC 400 0 0 0"), expected);  // no length, process, operation, file
  EXPECT_EQ(second("80 AD 2 0 0 0"), expected);    // the offset in blocks of 512
  expected.offset = 0x1200;
  expected.length = expected.result = 0x600;
  EXPECT_EQ(second("80 E8 600 0 0 0"), expected);  // no offset
  EXPECT_EQ(second("80 EA 3 0 0 0"), expected);    // the length in blocks
  expected.length = expected.result = 0x200;
  expected.operation = 6;
  EXPECT_EQ(second("80 CC 0 0 6 0"), expected);  // with operation
  expected.operation = 5;
  EXPECT_EQ(second("80 6C 0 0 1D 0"), expected);    // with file
  EXPECT_EQ(second("80 E4 0 0 743E 0"), expected);  // with process
  expected.operation = 7;
  expected.file = 3;
  expected.process = 8;
  expected.offset = 0;
  EXPECT_EQ(second("80 0 0 200 0 0 7 3 8 0"), expected);
}

TEST(Trace1992, TimesAreDifferences) {
  // startTime relates to the previous record of any process; processTime to the previous record of this process.
  const std::vector<Event> events = read_events(
      "80 0 0 1 A 3 0 1 1 10\n"
      "80 0 0 1 A 4 0 1 2 20\n"
      "80 0 0 1 A 5 0 1 1 1\n"
      "80 0 0 1 0 0 0 1 2 2\n");
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[0].start, 10'000);
  EXPECT_EQ(events[1].start, 20'000);
  EXPECT_EQ(events[2].start, 30'000);
  EXPECT_EQ(events[3].start, 30'000);
  EXPECT_EQ(events[2].duration, 5'000);
  EXPECT_EQ(events[0].cpu, 16'000);
  EXPECT_EQ(events[1].cpu, 32'000);
  EXPECT_EQ(events[2].cpu, 17'000);
  EXPECT_EQ(events[3].cpu, 34'000);
}

TEST(Trace1992, InheritanceIsByProcessAndFile) {
  const std::vector<Event> events = read_events(
      "80 0 0 100 0 0 1 1 1 0\n"     // process 1, file 1
      "80 0 1000 200 0 0 2 2 1 0\n"  // process 1, file 2
      "80 0 5000 300 0 0 3 1 2 0\n"  // process 2, its own file 1
      "80 64 0 0 1 1 0\n"            // names process 1 and file 1: sequential, same length, same operation
      "80 E4 0 0 2 0\n"              // names process 2, whose last file is 1
      "80 EC 0 0 0\n");              // names neither: process 2 again
  ASSERT_EQ(events.size(), 6U);
  EXPECT_EQ(events[3].offset, 0x100);
  EXPECT_EQ(events[3].length, 0x100);
  EXPECT_EQ(events[3].operation, 1U);
  EXPECT_EQ(events[4].process, 2U);
  EXPECT_EQ(events[4].file, 1U);
  EXPECT_EQ(events[4].offset, 0x5300);
  EXPECT_EQ(events[4].length, 0x300);
  EXPECT_EQ(events[4].operation, 3U);
  EXPECT_EQ(events[5].process, 2U);
  EXPECT_EQ(events[5].offset, 0x5600);
}

TEST(Trace1992, PhysicalRecordsCountBlocks) {
  const std::vector<Event> events = read_events(
      "C0 0 100 1000 0 0 7 3 1 0\n"
      "40 8 8 10 0 0 7 5 0\n"   // disk 5, block 8, 16 blocks
      "40 EF 0 0 0\n"           // undefined use: flags for absent fields have no effect
      "40 B 1 1 0 0 7 5 0\n");  // redundant flags
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[1].flags, 0);
  EXPECT_EQ(events[1].offset, 8 * 512);
  EXPECT_EQ(events[1].length, 16 * 512);
  EXPECT_EQ(events[1].file, 5U);
  EXPECT_EQ(events[1].operation, events[0].operation);
  EXPECT_EQ(events[3].offset, 512);
  EXPECT_EQ(events[3].length, 512);
}

TEST(Trace1992, UnknownLengthIsRejected) {
  EXPECT_NE(catch_error("80 4 0 0 0 0 1 1 0\n").find("leaves out its length"), std::string::npos);
}

// Readers remember 32 files for omitted fields. With 33 files, the least recently used one is dropped.
TEST(Trace1992, ThirtyTwoFilesAreTracked) {
  std::string text;
  for (int file = 1; file <= 33; ++file) {
    text += "80 0 0 10 0 0 0 " + std::to_string(file + 100) + " 1 0\n";
    if (file == 32) text += "80 6C 0 0 101 0\n";  // uses the first again, so that the second is the oldest
  }
  EXPECT_EQ(read_events(text + "80 6C 0 0 101 0\n").back().offset, 0x20);
  EXPECT_NE(catch_error(text + "80 6C 0 0 102 0\n").find("not among the last 32 files"), std::string::npos);
  // The writer drops the same file, so that its output can be read.
  TraceContent content;
  for (int round = 0; round < 4; ++round)
    for (std::uint32_t file = 1; file <= 40; ++file) {
      Event event = make_logical_event(Kind::kRead, 512 * round, 512);
      event.file = file % (round == 2 ? 7 : 41);
      content.events.push_back(event);
    }
  EXPECT_EQ(read_events(write_text("1992", content)), content.events);
}

TEST(Trace1992, ForeignSettings) {
  Event event = make_logical_event(Kind::kRead, 1024, 512);
  event.start = 100'000;
  event.duration = 20'000;
  event.operation = 9;
  event.file = 29;
  event.process = 77;
  // Decimal numbers are recognized if hexadecimal ones would be invalid.
  ReadOptions ten_us;
  ten_us.tick = 10'000;
  EXPECT_EQ(read_events("128 0 1024 512 10 2 9 29 77 0\n", ten_us), std::vector{event});
  ReadOptions options;
  options.base = 10;
  options.separator = ',';
  options.comment = "//";
  options.tick = 10'000;
  options.block = 1024;
  EXPECT_EQ(read_events("// a trace\n128,1,1, 512,10 ,2,9,29,77,0\n", options), std::vector{event});
  options.tick = 1000;
  EXPECT_EQ(read_events("128,1,1,512,10,2,9,29,77,0\n", options).at(0).start, 10'000);
  // In base 16, 80 is a logical read; in base 10 it is a physical write.  Both are valid; base 16 of figure 1 is used.
  EXPECT_EQ(read_events("80 0 0 512 0 0 0 1 1 0\n").at(0).length, 0x512);
  options = {};
  options.base = 10;
  EXPECT_EQ(read_events("80 0 0 512 0 0 0 1 1 0\n", options).at(0).kind, Kind::kWrite);
}

TEST(Trace1992, CommentsAreIgnored) {
  const TraceContent content =
      read_text("1992", "FF venus on the Y-MP\n\nff\nFF 1D = /tmp/data\n80 0 0 10 0 0 0 1D 1 0\n# more\n");
  EXPECT_EQ(content.events.size(), 1U);
  EXPECT_TRUE(content.description.complete);
  ASSERT_EQ(content.description.notes.size(), 4U);
  EXPECT_EQ(content.description.notes[0], "comment: venus on the Y-MP");
  EXPECT_EQ(content.description.notes[2], "comment: 1D = /tmp/data");
  ASSERT_EQ(content.description.processes.size(), 1U);
  EXPECT_EQ(content.description.processes[0].number, 1U);
}

TEST(Trace1992, InvalidValuesAreRejectedWithTheirLine) {
  const std::string good = "80 0 0 10 0 0 0 1D 1 0\n";
  EXPECT_NE(catch_error(good + "80 0 0 10 0 0 0 1D 1\n").find("line 2 of the trace the test"), std::string::npos);
  EXPECT_NE(catch_error(good + "80 0 0 10 0 0 0 1D 1\n").find("ends before its field processTime"), std::string::npos);
  EXPECT_NE(catch_error(good + "80 0 0 10 0 0 0 1D 1 0 0\n").find("more fields"), std::string::npos);
  EXPECT_NE(catch_error(good + "80 10 0 10 0 0 0 1D 1 0\n").find("compression flags"), std::string::npos);
  EXPECT_NE(catch_error(good + "180 0 0 10 0 0 0 1D 1 0\n").find("record type"), std::string::npos);
  EXPECT_NE(catch_error(good + "80 0 x 10 0 0 0 1D 1 0\n").find("offset"), std::string::npos);
  EXPECT_NE(catch_error(good + "80 0 0 10 0 0 0 1FFFFFFFF 1 0\n").find("fileId"), std::string::npos);
  EXPECT_NE(catch_error(good + "80 0 FFFFFFFFFFFFFFFFF 10 0 0 0 1 1 0\n").find("offset"), std::string::npos);
  EXPECT_NE(catch_error(good + "80 1 7FFFFFFFFFFFFFFF 10 0 0 0 1 1 0\n").find("past 64 bits"), std::string::npos);
  EXPECT_NE(catch_error(good + "80 0 0 10 7FFFFFFFFFFFFFFF 0 0 1 1 0\n").find("64 bits"), std::string::npos);
  ReadOptions options;
  options.base = 8;
  EXPECT_NE(catch_error(good, options).find("base"), std::string::npos);
  options.base = 16;
  options.separator = 'A';
  EXPECT_NE(catch_error(good, options).find("separated"), std::string::npos);
}

TEST(Trace1992, UndefinedRecordBitIsNoted) {
  // The record of figure 1 has this bit.
  const TraceContent content = read_text("1992", "FE 0 0 10 5AF8 32C 89 1D 743E 0\n");
  EXPECT_EQ(content.events.size(), 1U);
  ASSERT_EQ(content.description.notes.size(), 1U);
  EXPECT_NE(content.description.notes[0].find("0x04"), std::string::npos);
}

TEST(Trace1992, TruncatedTraceIsReadUpToItsEnd) {
  const std::string text = write_text("1992", random_trace(7, 60));
  const std::vector<Event> all = read_events(text);
  for (std::size_t size = text.find('\n') + 1; size < text.size(); size += 3) {
    const TraceContent cut = read_text("1992", text.substr(0, size));
    EXPECT_FALSE(cut.description.complete) << size;
    ASSERT_LE(cut.events.size(), all.size());
    EXPECT_TRUE(std::equal(cut.events.begin(), cut.events.end(), all.begin())) << size;
  }
  const TraceContent foreign_trace = read_text("1992", "80 0 0 10 0 0 0 1D 1 0\n80 EC 0 0");
  EXPECT_EQ(foreign_trace.events.size(), 1U);
  EXPECT_FALSE(foreign_trace.description.complete);
}

TEST(Trace1992, NothingIsLostWithATickOfOneNs) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    TraceContent content = random_trace(seed, 200);
    for (const int base : {16, 10}) {
      WriteOptions options;
      options.base = base;
      options.tick = 1;
      options.separator = seed % 3 == 0 ? ',' : seed % 3 == 1 ? '\t' : '\0';
      options.comment = seed % 2 == 0 ? "#" : "";
      options.block = seed % 5 == 0 ? 4096 : 512;
      std::vector<std::string> lost;
      const std::string text = write_text("1992", content, options, &lost);
      EXPECT_TRUE(lost.empty());
      const TraceContent again = read_text("1992", text);
      ASSERT_EQ(again.events, content.events) << "seed " << seed << " base " << base;
      expect_same_description(again.description, content.description);
      EXPECT_EQ(write_text("1992", again, options), text);
    }
  }
}

TEST(Trace1992, ExtremesAreKept) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  TraceContent content;
  content.description.processes.resize(1);
  for (const std::int64_t start : {kMin, std::int64_t{-1}, std::int64_t{0}, kMax})
    for (const std::int64_t value : {kMin, std::int64_t{-2}, std::int64_t{-1}, std::int64_t{0}, kMax - 600, kMax})
      for (const unsigned flags : {0x00U, 0x80U, 0xffffU}) {
        Event event;
        event.start = start;
        event.offset = event.length = event.result = value;
        event.duration = event.cpu = value;
        event.operation = static_cast<std::uint64_t>(value);
        event.file = event.thread = 0xffffffffU;
        event.flags = static_cast<std::uint16_t>(flags);
        content.events.push_back(event);
        event.length = 0;
        content.events.push_back(event);
        event.length = 600;
        event.duration = event.cpu = 0;
        content.events.push_back(event);
      }
  WriteOptions options;
  options.tick = 1;
  EXPECT_EQ(read_events(write_text("1992", content, options)), content.events);
  EXPECT_EQ(read_events(write_text("1992", content)).size(), content.events.size());  // rounded, then read back
}

// Rounded times do not drift: they stay within half a tick however long the trace is.
TEST(Trace1992, RoundedTimesDoNotDrift) {
  TraceContent content;
  for (int i = 0; i < 20'000; ++i) {
    Event event = make_logical_event(Kind::kRead, 512LL * i, 512);
    event.start = 1'499LL * i;
    event.duration = 1'499;  // until the next event starts
    event.cpu = 777LL * i;
    content.events.push_back(event);
  }
  std::vector<std::string> lost;
  const std::string text = write_text("1992", content, {}, &lost);
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_NE(lost[0].find("rounded to 1000 ns"), std::string::npos);
  const TraceContent again = read_text("1992", text);
  EXPECT_EQ(again.description.tick, 1000);
  ASSERT_EQ(again.events.size(), content.events.size());
  for (std::size_t i = 0; i < content.events.size(); ++i) {
    EXPECT_LE(std::abs(again.events[i].start - content.events[i].start), 500);
    EXPECT_LE(std::abs(again.events[i].cpu - content.events[i].cpu), 500);
    EXPECT_LE(std::abs(again.events[i].duration - content.events[i].duration), 1000);
    if (i > 0) {
      EXPECT_EQ(again.events[i - 1].start + again.events[i - 1].duration, again.events[i].start);
    }
  }
  // Rounded times do not change again.
  EXPECT_TRUE(write_text("1992", again) == write_text("1992", read_text("1992", write_text("1992", again))));
}

TEST(Trace1992, ForeignTraceSurvivesARoundTrip) {
  const std::string foreign_trace =
      "FF a foreign trace\n"
      "C8 0 0 1000 5 7 1 2 3 9\n"
      "48 8 10 8 2 3 1 1 0\n"
      "80 2D 2 FFFF 4 1 0\n"
      "80 EC 0 0 0\n"
      "B3 1 123456 7 8 9 A B C D\n";
  for (const std::int64_t tick : {1'000, 10'000}) {
    ReadOptions in;
    in.tick = tick;
    WriteOptions out;
    out.tick = tick;
    const TraceContent content = read_text("1992", foreign_trace, in);
    EXPECT_EQ(read_text("1992", write_text("1992", content, out)).events, content.events);
    out.plain = true;
    EXPECT_EQ(read_text("1992", write_text("1992", content, out)).events, content.events);
  }
}

TEST(Trace1992, PlainHasNoExtensionsAndReportsLosses) {
  WriteOptions options;
  options.plain = true;
  std::vector<std::string> lost;
  const std::string text = write_text("1992", random_trace(3, 300), options, &lost);
  for (const char* keyword : {"FF event", "FF with", "FF but", "FF process", "FF note", "FF missed", "FF end"})
    EXPECT_EQ(text.find(keyword), std::string::npos) << keyword;
  EXPECT_NE(text.find("FF file 200 1 "), std::string::npos);
  std::string all;
  for (const std::string& line : lost) all += line + "\n";
  for (const char* loss : {"rounded", "no reads or writes", "threads", "results", "physical", "went back", "processes",
                           "missing", "time of day"})
    EXPECT_NE(all.find(loss), std::string::npos) << loss << " in\n" << all;
  EXPECT_FALSE(read_events(text).empty());
}

// "Surprisingly, text traces were shorter than binary traces": less than the 36 bytes of struct traceRecord with
// integers of 4 bytes.  And a plain trace has hardly any comments.
TEST(Trace1992, SequentialTraceIsSmallerThanTheBinaryStructure) {
  constexpr std::size_t kEvents = 10'000;
  constexpr double kStructure = 2 * 2 + 8 * 4;
  const std::string text = write_text("1992", sequential_trace(kEvents, 458'752));
  const double bytes = static_cast<double>(text.size()) / kEvents;
  RecordProperty("bytes_a_record", std::to_string(bytes));
  EXPECT_LT(bytes, 0.5 * kStructure) << bytes;
  EXPECT_GT(bytes, 8.0);
  std::size_t comments = 0;
  for (std::size_t at = 0; (at = text.find("\nFF ", at)) != std::string::npos; ++at) ++comments;
  EXPECT_EQ(comments, 3U);  // after the header: process, file, end
}

TEST(Trace1992, RecognizedByContent) {
  const Format& format = find_format("1992");
  EXPECT_TRUE(format.recognise("80 0 0 10 0 0 0 1D 1 0\n80 EC 0 0 0\n80 E"));
  EXPECT_TRUE(format.recognise("255 a comment\n128 0 0 10 0 0 0 1 1 0\n"));
  WriteOptions options;
  options.separator = ';';
  options.comment = "*";
  EXPECT_TRUE(format.recognise(write_text("1992", random_trace(1, 5), options)));
  EXPECT_FALSE(format.recognise("80 0 0 10 0 0 0 1D 1\n"));
  EXPECT_FALSE(format.recognise("hello\n"));
  EXPECT_FALSE(format.recognise(""));
  EXPECT_FALSE(format.recognise("1,2,3\n"));
}

}  // namespace
}  // namespace plait::trace
