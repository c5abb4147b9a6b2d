/// Functions that read and write traces in memory, for the tests of text formats.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plait/trace.hpp"
#include "trace/formats/registry.hpp"
#include "trace_random.hpp"

namespace plait::trace {

inline std::unique_ptr<Reader> make_reader(std::string_view format, std::string_view text,
                                           const ReadOptions& options = {}) {
  return find_format(format).open(std::make_unique<Source>("the test", make_bytes(text)), options);
}

/// Reads a trace 7 events at a time, so that calls of the reader begin at various events.
inline TraceContent read_text(std::string_view format, std::string_view text, const ReadOptions& options = {}) {
  const std::unique_ptr<Reader> reader = make_reader(format, text, options);
  TraceContent content;
  std::vector<Event> buffer(7);
  while (const std::size_t count = reader->read(buffer)) {
    content.events.insert(content.events.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(count));
    if (content.events.size() > 100'000'000) break;  // a reader that never ends must not exhaust the memory
  }
  content.description = reader->description();
  return content;
}

/// Returns a trace in a text format; `lost` receives the notes about data that the format cannot store.
inline std::string write_text(std::string_view format, const TraceContent& content, const WriteOptions& options = {},
                              std::vector<std::string>* lost = nullptr) {
  std::string text;
  const std::unique_ptr<Writer> writer = find_format(format).create(make_text_sink(text), options);
  for (const Process& process : content.description.processes) writer->add(process);
  for (const File& file : content.description.files) writer->add(file);
  writer->write(content.events);
  writer->finish(content.description);
  EXPECT_EQ(writer->bytes_written(), static_cast<std::int64_t>(text.size()));
  if (lost != nullptr) *lost = writer->lost();
  return text;
}

/// Compares the parts of two descriptions that do not depend on the format.
inline void expect_same_description(const Description& actual, const Description& expected) {
  EXPECT_EQ(actual.zero, expected.zero);
  EXPECT_EQ(actual.tick, expected.tick);
  EXPECT_EQ(actual.complete, expected.complete);
  EXPECT_EQ(actual.processes, expected.processes);
  EXPECT_EQ(actual.files, expected.files);
  EXPECT_EQ(actual.missed, expected.missed);
  EXPECT_EQ(actual.counters, expected.counters);
  EXPECT_EQ(actual.notes, expected.notes);
}

}  // namespace plait::trace
