// Traces in CSV: those that Plait wrote, and tables of other programs.
#include <gtest/gtest.h>

#include <limits>

#include "plait/error.hpp"
#include "trace_text_case.hpp"

namespace plait::trace {
namespace {

std::string catch_error(std::string_view text, const ReadOptions& options = {}) {
  try {
    (void)read_text("csv", text, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kArgument);
    return error.what();
  }
  return "";
}

TEST(TraceCsv, NothingIsLost) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const TraceContent content = random_trace(seed, 200);
    WriteOptions options;
    options.tick = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 1000 : 1'000'000'000;
    options.separator = seed % 4 == 0 ? ';' : seed % 4 == 1 ? '|' : seed % 4 == 2 ? '\t' : '\0';
    std::vector<std::string> lost;
    const std::string text = write_text("csv", content, options, &lost);
    EXPECT_TRUE(lost.empty());
    ReadOptions in;
    in.separator = options.separator;
    const TraceContent again = read_text("csv", text, in);
    ASSERT_EQ(again.events, content.events) << "seed " << seed;
    expect_same_description(again.description, content.description);
    EXPECT_TRUE(write_text("csv", again, options) == text);
  }
}

TEST(TraceCsv, ExtremesAreKept) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  TraceContent content;
  for (const std::int64_t value : {kMin, std::int64_t{-1}, std::int64_t{0}, kMax}) {
    Event event;
    event.start = event.duration = event.cpu = event.offset = event.length = event.result = value;
    event.operation = std::numeric_limits<std::uint64_t>::max();
    event.process = event.thread = event.file = 0xffffffffU;
    event.flags = 0xffff;
    content.events.push_back(event);
  }
  for (const std::int64_t tick : {1LL, 1000LL, 1'000'000'000LL}) {
    WriteOptions options;
    options.tick = tick;
    EXPECT_EQ(read_text("csv", write_text("csv", content, options)).events, content.events) << tick;
  }
}

TEST(TraceCsv, FollowsTheDocumentation) {
  TraceContent content = sequential_trace(1, 4096);
  content.events[0].duration = 250;
  content.events[0].cpu = kUnknown;
  content.events[0].flags = flag::kLogical | flag::kDirect;
  content.events[0].interface = Interface::kPosix;
  EXPECT_EQ(write_text("csv", content),
            "start,duration,cpu,process,thread,file,kind,interface,offset,length,result,operation,flags\n"
            "# plait-csv version=1 tick=1\n"
            "# process 29758 command=venus\n"
            "# file 29758 3 data\n"
            "0,250,,29758,0,3,read,posix,0,4096,4096,0,logical|direct\n"
            "# end complete=yes\n");
}

// Tables of other programs have other names and orders of columns, more columns, quotes, and times in seconds.
TEST(TraceCsv, ForeignTables) {
  ReadOptions options;
  options.tick = 1'000'000'000;
  const TraceContent content = read_text("csv",
                                         "# from my script\n"
                                         "Op,Size,Offset,Time,latency,user,path\r\n"
                                         "R,4096,0,0.000001,2e-6,me,\"a, \"\"b\"\"\nc\"\r\n"
                                         "write,100,4096,0.5,,you,plain\n"
                                         "READ,1,0,1,,you,plain",
                                         options);
  ASSERT_EQ(content.events.size(), 3U);
  EXPECT_EQ(content.events[0].kind, Kind::kRead);
  EXPECT_EQ(content.events[0].start, 1000);
  EXPECT_EQ(content.events[0].duration, 2000);
  EXPECT_EQ(content.events[0].length, 4096);
  EXPECT_EQ(content.events[0].result, 4096);
  EXPECT_EQ(content.events[0].offset, 0);
  EXPECT_EQ(content.events[0].flags, flag::kLogical);
  EXPECT_EQ(content.events[1].start, 500'000'000);
  EXPECT_EQ(content.events[1].duration, kUnknown);
  EXPECT_EQ(content.events[1].kind, Kind::kWrite);
  EXPECT_EQ(content.events[2].file, content.events[1].file);
  ASSERT_EQ(content.description.files.size(), 2U);
  EXPECT_EQ(content.description.files[0].name, "a, \"b\"\nc");
  EXPECT_EQ(content.description.files[0].number, content.events[0].file);
  EXPECT_EQ(content.description.files[1].name, "plain");
  EXPECT_TRUE(content.description.complete);
  EXPECT_EQ(content.description.notes,
            (std::vector<std::string>{"comment: from my script", "the column 'user' is not read"}));
}

TEST(TraceCsv, OrderOfStartIsDetected) {
  const TraceContent content = read_text("csv", "start,kind,offset,length\n5,read,0,1\n3,read,0,1\n");
  ASSERT_EQ(content.description.notes.size(), 1U);
  EXPECT_EQ(content.description.notes[0], "1 event starts before the one in front of it");
}

TEST(TraceCsv, InvalidValuesAreRejectedWithTheirLine) {
  const std::string header = "start,kind,offset,length,flags,interface\n";
  EXPECT_NE(catch_error("").find("no header"), std::string::npos);
  EXPECT_NE(catch_error("a,b\n1,2\n").find("start and kind"), std::string::npos);
  EXPECT_NE(catch_error(header + "1,read,0\n").find("line 2 of the trace the test: there are 3 cells"),
            std::string::npos);
  EXPECT_NE(catch_error(header + "1,look,0,1,,\n").find("'look' is not a kind"), std::string::npos);
  EXPECT_NE(catch_error(header + "x,read,0,1,,\n").find("start holds 'x'"), std::string::npos);
  EXPECT_NE(catch_error(header + "99999999999999999999,read,0,1,,\n").find("start holds"), std::string::npos);
  EXPECT_NE(catch_error(header + "1,read,0x1,1,,\n").find("offset holds '0x1'"), std::string::npos);
  EXPECT_NE(catch_error(header + "1,read,0,1,odd,\n").find("flags"), std::string::npos);
  EXPECT_NE(catch_error(header + "1,read,0,1,,odd\n").find("'odd' is not an interface"), std::string::npos);
  EXPECT_NE(catch_error(header + "1,16,0,1,,\n").find("'16' is not a kind"), std::string::npos);
  TraceContent invalid = sequential_trace(1, 1);
  invalid.events[0].kind = static_cast<Kind>(16);
  for (const char* format : {"csv", "perfetto"}) EXPECT_THROW(write_text(format, invalid), Error) << format;
  invalid.events[0].kind = Kind::kRead;
  invalid.events[0].interface = static_cast<Interface>(PLAIT_TRACE_INTERFACE_COUNT);
  for (const char* format : {"csv", "perfetto", "1992"}) EXPECT_THROW(write_text(format, invalid), Error) << format;
  WriteOptions options;
  options.tick = 512;
  EXPECT_THROW(write_text("csv", {}, options), Error);
  options.tick = 0;
  options.separator = '1';
  EXPECT_THROW(write_text("csv", {}, options), Error);
}

TEST(TraceCsv, TruncatedTraceIsReadUpToItsEnd) {
  const std::string text = write_text("csv", random_trace(7, 60));
  const std::vector<Event> all = read_text("csv", text).events;
  for (std::size_t size = text.find("tick=1\n") + 7; size < text.size(); size += 3) {
    const TraceContent cut = read_text("csv", text.substr(0, size));
    EXPECT_FALSE(cut.description.complete) << size;
    ASSERT_LE(cut.events.size(), all.size());
    EXPECT_TRUE(std::equal(cut.events.begin(), cut.events.end(), all.begin())) << size;
  }
}

TEST(TraceCsv, RecognizedByContent) {
  const Format& format = find_format("csv");
  EXPECT_TRUE(format.recognise(write_text("csv", random_trace(1, 5))));
  EXPECT_TRUE(format.recognise("# mine\ntime;op;offset;size\n1;r;0;1\n"));
  EXPECT_FALSE(format.recognise("80 0 0 10 0 0 0 1D 1 0\n"));
  EXPECT_FALSE(format.recognise("a,b\n"));
  EXPECT_FALSE(format.recognise(""));
}

TEST(TraceCsv, EverySeparatorIsDetected) {
  const std::vector<Event> events = read_text("csv", write_text("csv", random_trace(3, 20))).events;
  for (const char separator : {';', '\t', '|', ':'}) {
    WriteOptions options;
    options.separator = separator;
    const std::string text = write_text("csv", random_trace(3, 20), options);
    EXPECT_TRUE(find_format("csv").recognise(text)) << separator;
    EXPECT_EQ(read_text("csv", text).events, events) << separator;
  }
}

TEST(TraceCsv, AMissingResultIsTheLength) {
  const TraceContent trace = read_text("csv", "start,kind,offset,length,result\n0,read,0,10,\n1,write,0,7,3\n");
  ASSERT_EQ(trace.events.size(), 2u);
  EXPECT_EQ(trace.events[0].result, 10);
  EXPECT_EQ(trace.events[1].result, 3);
  ASSERT_EQ(trace.description.notes.size(), 1u);
  EXPECT_NE(trace.description.notes[0].find("1 read or write has no result"), std::string::npos);
}

TEST(TraceCsv, AQuotedCellOfManyLinesIsSplitOnce) {
  std::string text = "start,kind,offset,length,name\n0,read,0,10,\"a \"\"b\"\"";
  for (int k = 0; k < 300'000; ++k) text += "\n,";
  text += "\"\n1,read,0,1,c\n";
  const TraceContent trace = read_text("csv", text);  // would take minutes if the cell were parsed once per line
  ASSERT_EQ(trace.events.size(), 2u);
  EXPECT_TRUE(trace.description.files.at(0).name.starts_with("a \"b\"\n,\n"));
}

}  // namespace
}  // namespace plait::trace
