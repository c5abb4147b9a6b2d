// Traces for Perfetto: the slices and their tracks.  trace/tests/python/trace/test_trace_convert.py checks that the
// JSON is valid.
#include <gtest/gtest.h>

#include <algorithm>

#include "plait/error.hpp"
#include "trace_text_case.hpp"

namespace plait::trace {
namespace {

/// Returns the lines of the array `traceEvents`, one per entry.
std::vector<std::string> entries(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = text.find("[\n") + 2; text[at] == '{';) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at - (text[end - 1] == ',' ? 1 : 0)));
    at = end + 1;
  }
  return lines;
}

std::vector<std::string> lines_with(const std::vector<std::string>& lines, std::string_view part) {
  std::vector<std::string> found;
  std::copy_if(lines.begin(), lines.end(), std::back_inserter(found),
               [&](const std::string& line) { return line.find(part) != std::string::npos; });
  return found;
}

Event make_request(std::int64_t start, std::int64_t duration, std::uint16_t flags, std::uint64_t operation = 0) {
  Event event;
  event.start = start;
  event.duration = duration;
  event.flags = flags;
  event.operation = operation;
  event.process = 7;
  event.thread = 8;
  event.file = 2;
  event.offset = 512;
  event.length = event.result = 4096;
  return event;
}

TraceContent make_trace(std::vector<Event> events) {
  TraceContent content;
  content.events = std::move(events);
  content.description.processes.push_back({7, 0, 3, "node1", "run \"it\"", kUnknown});
  content.description.files.push_back({7, 2, "data\n\xff\xc3\xa9"});
  return content;
}

TEST(TracePerfetto, ASliceForACall) {
  const auto lines = entries(write_text("perfetto", make_trace({make_request(1'234'567, 2'000, flag::kLogical)})));
  ASSERT_EQ(lines_with(lines, "\"ph\":\"X\"").size(), 1U);
  EXPECT_EQ(lines_with(lines, "\"ph\":\"X\"")[0],
            "{\"ph\":\"X\",\"name\":\"read\",\"pid\":7,\"cat\":\"logical\",\"tid\":8,\"ts\":1234.567,\"dur\":2,"
            "\"args\":{\"file\":\"data\\u000a\\ufffd\xc3\xa9\",\"file_number\":2,\"offset\":512,\"length\":4096,"
            "\"result\":4096,\"flags\":\"logical\"}}");
  EXPECT_EQ(lines_with(lines, "process_name")[0],
            "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":7,\"tid\":0,"
            "\"args\":{\"name\":\"rank 3 run \\\"it\\\" on node1\"}}");
}

TEST(TracePerfetto, AsynchronousCallsAndUnknownDurations) {
  Event open = make_request(0, kUnknown, flag::kLogical);
  open.kind = Kind::kOpen;
  const auto lines =
      entries(write_text("perfetto", make_trace({open, make_request(1000, 5000, flag::kLogical | flag::kAsynchronous),
                                                 make_request(2000, 5000, flag::kLogical | flag::kAsynchronous)})));
  EXPECT_EQ(lines_with(lines, "\"ph\":\"i\"").size(), 1U);
  ASSERT_EQ(lines_with(lines, "\"ph\":\"b\"").size(), 2U);
  ASSERT_EQ(lines_with(lines, "\"ph\":\"e\"").size(), 2U);
  EXPECT_NE(lines_with(lines, "\"ph\":\"e\"")[1].find("\"ts\":7,\"id\":\"0x2\""), std::string::npos);
  EXPECT_TRUE(lines_with(lines, "\"ph\":\"X\"").empty());
}

// Physical requests overlap, so they are on separate tracks, each with an arrow from its call.
TEST(TracePerfetto, ArrowsFromCallsToPhysicalRequests) {
  const auto lines =
      entries(write_text("perfetto", make_trace({make_request(0, 9000, flag::kLogical, 5),
                                                 make_request(1000, 3000, 0, 5), make_request(2000, 3000, 0, 5),
                                                 make_request(4500, 100, 0, 6), make_request(5000, 100, 0, 5)})));
  EXPECT_EQ(lines_with(lines, "\"cat\":\"physical\"").size(), 4U);
  const auto begins = lines_with(lines, "\"ph\":\"s\"");
  const auto ends = lines_with(lines, "\"ph\":\"f\"");
  ASSERT_EQ(begins.size(), 3U);  // no call has operation 6
  ASSERT_EQ(ends.size(), 3U);
  for (const std::string& begin : begins) EXPECT_NE(begin.find("\"tid\":8,\"ts\":0,"), std::string::npos);
  EXPECT_NE(ends[0].find("\"tid\":4294967296,\"ts\":1,\"id\":\"0x1\",\"bp\":\"e\""), std::string::npos);
  EXPECT_NE(ends[1].find("\"tid\":4294967297,\"ts\":2,\"id\":\"0x2\""), std::string::npos);
  EXPECT_NE(ends[2].find("\"tid\":4294967296,\"ts\":5,"), std::string::npos);  // the first track is free again
  EXPECT_EQ(lines_with(lines, "thread_name").size(), 2U);
}

TEST(TracePerfetto, CountersContainEachByteOnce) {
  std::vector<Event> events;
  for (int i = 0; i < 100; ++i) {
    events.push_back(make_request(i * 1'000'000, 10, flag::kLogical));
    events.push_back(make_request(i * 1'000'000, 10, 0));
  }
  const auto lines = lines_with(entries(write_text("perfetto", make_trace(events))), "\"ph\":\"C\"");
  const auto sum = [&](std::string_view name) {
    std::int64_t bytes = 0;
    for (const std::string& line : lines_with(lines, name))
      bytes += std::stoll(line.substr(line.find("\"read\":") + 7)) / 100;
    return bytes;
  };
  EXPECT_EQ(sum("asked by the program"), 100 * 4096);
  EXPECT_EQ(sum("at stores"), 100 * 4096);
}

TEST(TracePerfetto, IsWrittenOnly) {
  EXPECT_EQ(find_format("perfetto").open, nullptr);
  const std::string text = write_text("perfetto", random_trace(5, 2000));
  EXPECT_GT(entries(text).size(), 2000U);
  EXPECT_TRUE(text.starts_with("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"));
  EXPECT_TRUE(text.ends_with("}}\n"));
}

}  // namespace
}  // namespace plait::trace
