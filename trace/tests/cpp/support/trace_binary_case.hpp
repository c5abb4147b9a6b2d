// Helpers of the tests of traces in the binary format `plait`.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "plait/trace.hpp"
#include "trace/formats/registry.hpp"

namespace plait_test::binary {

/// Returns all events of a reader, read `batch` at a time.
inline std::vector<plait::trace::Event> read_all(plait::trace::Reader& reader, std::size_t batch = 1000) {
  std::vector<plait::trace::Event> all;
  std::vector<plait::trace::Event> buffer(batch);
  while (const std::size_t count = reader.read(buffer))
    all.insert(all.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(count));
  return all;
}

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_content(const std::string& path, std::string_view content) {
  std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
}

/// Makes a reader of bytes in memory.
inline std::unique_ptr<plait::trace::Reader> make_reader(std::string_view format, std::string_view bytes) {
  return plait::trace::find_format(format).open(
      std::make_unique<plait::trace::Source>("memory", plait::trace::make_bytes(bytes)), {});
}

/// Returns events in the order of their starts. Their other fields have ordinary values, random values of the whole
/// range, and the largest and smallest values.
inline std::vector<plait::trace::Event> random_events(std::size_t count, unsigned seed, unsigned threads = 5) {
  std::mt19937_64 random(seed);
  const auto random_value = [&](std::int64_t ordinary) {
    switch (random() % 8) {
      case 0: return static_cast<std::int64_t>(random());
      case 1: return INT64_MAX;
      case 2: return INT64_MIN;
      case 3: return std::int64_t{-1};
      case 4: return std::int64_t{0};
      default: return ordinary;
    }
  };
  std::vector<plait::trace::Event> events(count);
  std::int64_t start = -1000000;
  for (plait::trace::Event& e : events) {
    start += static_cast<std::int64_t>(random() % 3 == 0 ? 0 : random() % 100000);
    e.start = start;
    e.duration = random_value(static_cast<std::int64_t>(random() % 5000));
    e.cpu = random_value(start / 2);
    e.offset = random_value(static_cast<std::int64_t>(random() % 1000 * 4096));
    e.length = random_value(4096);
    e.result = random_value(e.length);
    e.operation = random() % 4 == 0 ? random() : random() % 10;
    e.process = static_cast<std::uint32_t>(random() % 3 + 1);
    e.thread = static_cast<std::uint32_t>(random() % threads);
    e.file = random() % 16 == 0 ? static_cast<std::uint32_t>(random()) : static_cast<std::uint32_t>(random() % 100);
    e.kind = static_cast<plait::trace::Kind>(random() % 2 == 0 ? random() % 2 : random() % 16);
    e.interface = static_cast<plait::trace::Interface>(random() % PLAIT_TRACE_INTERFACE_COUNT);
    e.flags = static_cast<std::uint16_t>(random() % 4 == 0 ? random() : 0x80);
  }
  return events;
}

}  // namespace plait_test::binary
