/// Traces in memory, composed by tests or random, for the tests of reports.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "plait/trace.hpp"
#include "trace/report/analysis.hpp"

namespace plait::trace::report {

/// Reads events from memory, at most 700 per call, so that reports are tested with several calls.
class MemoryReader final : public Reader {
 public:
  MemoryReader(std::vector<Event> events, Description description)
      : events_(std::move(events)), description_(std::move(description)) {}
  std::size_t read(std::span<Event> buffer) override {
    const std::size_t count = std::min({buffer.size(), events_.size() - next_, std::size_t{700}});
    std::copy_n(events_.begin() + static_cast<std::ptrdiff_t>(next_), count, buffer.begin());
    next_ += count;
    return count;
  }
  const Description& description() const override { return description_; }

 private:
  std::vector<Event> events_;
  Description description_;
  std::size_t next_ = 0;
};

/// A trace that a test composes, and its report.
struct TraceInput {
  std::vector<Event> events;
  Description description;

  void add_process(std::uint32_t number, std::int64_t rank = -1, std::int64_t cpu = kUnknown) {
    description.processes.push_back({number, 0, rank, "node", "program", cpu});
  }
  void add_file(std::uint32_t process, std::uint32_t number, std::string name) {
    description.files.push_back({process, number, std::move(name)});
  }
  /// Adds an event of 10 ns; times are in ns.
  Event& add(Kind kind, std::int64_t start, std::int64_t offset = 0, std::int64_t bytes = 0, std::uint32_t file = 1,
             std::uint32_t process = 1) {
    Event event;
    event.kind = kind;
    event.start = start;
    event.duration = 10;
    event.offset = offset;
    event.length = event.result = bytes;
    event.file = file;
    event.process = process;
    event.interface = Interface::kPosix;
    return events.emplace_back(event);
  }
  Report report(const Options& options = {}) const {
    MemoryReader reader(events, description);
    return analyse(reader, options);
  }
};

/// Returns calls of all kinds and results by three processes, each on six files. If `physical` is true, a third of them
/// are physical requests, which reach a store; the others are logical, made by the program.
inline TraceInput random_input(unsigned seed, int count, bool physical) {
  std::mt19937 random(seed);
  const auto below = [&](std::int64_t limit) { return static_cast<std::int64_t>(random()) % limit; };
  TraceInput input;
  for (std::uint32_t process = 1; process <= 3; ++process) {
    input.add_process(process * 10, process - 1);
    for (std::uint32_t file = 1; file <= 6; ++file)  // each process opens each name twice
      input.add_file(process * 10, file, file == 6 ? "" : "file" + std::to_string(file % 3));
  }
  std::int64_t start = 1000;
  for (int i = 0; i < count; ++i) {
    start += below(4) == 0 ? 0 : below(3'000'000);
    const auto kind = static_cast<Kind>(below(3) == 0 ? below(11) : below(2));
    const auto process = static_cast<std::uint32_t>(10 + 10 * below(3));
    Event& event = input.add(kind, start, below(40) * 1000, 0, static_cast<std::uint32_t>(1 + below(6)), process);
    event.duration = below(5) == 0 ? kUnknown : below(8'000'000);
    event.length = below(3) == 0 ? below(5'000'000) : 4096;
    event.result = below(10) == 0 ? -5 : kind <= Kind::kWrite ? event.length - below(2) * below(event.length + 1) : 0;
    if (below(12) == 0) event.offset = -1;
    if (below(4) == 0) event.flags |= flag::kAsynchronous;
    if (physical && below(3) == 0) event.flags &= static_cast<std::uint16_t>(~flag::kLogical);
    event.operation = static_cast<std::uint64_t>(1 + i / 3);
  }
  return input;
}

}  // namespace plait::trace::report
