/// Generated traces: one of a sequential program, and random ones whose values test the limits of trace formats.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "plait/trace.hpp"

namespace plait::trace {

/// The events and the description of a trace.
struct TraceContent {
  std::vector<Event> events;
  Description description;
};

/// Returns the trace of a program that reads a file sequentially, `bytes` at a time.
inline TraceContent sequential_trace(std::size_t events, std::int64_t bytes) {
  constexpr std::uint32_t kProcess = 0x743e;  // the process of figure 1 in the paper of 1992 on traces
  constexpr std::uint32_t kFile = 3;
  TraceContent content;
  content.description.processes.push_back({kProcess, 0, -1, "", "venus", kUnknown});
  content.description.files.push_back({kProcess, kFile, "data"});
  std::mt19937_64 random(1);
  std::int64_t start = 0;
  std::int64_t cpu = 0;
  for (std::size_t i = 0; i < events; ++i) {
    Event event;
    event.start = start;
    event.duration = static_cast<std::int64_t>(1000 * (100 + random() % 400));
    event.cpu = cpu;
    event.offset = static_cast<std::int64_t>(i) * bytes;
    event.length = event.result = bytes;
    event.process = kProcess;
    event.file = kFile;
    event.kind = Kind::kRead;
    content.events.push_back(event);
    const auto gap = static_cast<std::int64_t>(1000 * (200 + random() % 1000));
    start += event.duration + gap;
    cpu += gap;
  }
  return content;
}

/// Returns a trace with random values in all fields of events and descriptions.
inline TraceContent random_trace(std::uint64_t seed, std::size_t events) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t bound) { return static_cast<std::int64_t>(random() % bound); };
  const auto one_in = [&](std::uint64_t bound) { return random() % bound == 0; };
  TraceContent content;
  Description& description = content.description;
  for (std::uint32_t i = 1; i <= 3; ++i)
    description.processes.push_back({i * 100, i == 1 ? 0 : i * 100 - 100, i == 2 ? std::int64_t{0} : -1,
                                     i == 1 ? "a node" : "", "run 50% of\tall\n", i == 1 ? 123456789 : kUnknown});
  for (std::uint32_t i = 1; i <= 40; ++i)
    description.files.push_back(
        {100 * (1 + i % 3), i, i % 5 == 0 ? "" : " name with blanks, \"quotes\"\r\n%41 " + std::to_string(i)});
  description.missed.push_back({"no memory for a chunk", 3, 4096, -1});
  description.counters.push_back({0, 0, Interface::kUnknown, flag::kLogical, {{"run_ns", 5'000'000'000}}});
  description.counters.push_back(
      {100, 2, Interface::kMpiIo, 0, {{"a name = 100 %\n", INT64_MIN}, {"reads", INT64_MAX}}});
  description.notes.push_back("a note\nof two lines; 100 % sure");
  description.zero = 1'700'000'000'123'456'789;
  description.complete = !one_in(3);
  std::int64_t start = one_in(2) ? -50 : below(1000);
  std::vector<std::int64_t> cpu(3, 0);
  for (std::size_t i = 0; i < events; ++i) {
    Event event;
    start += one_in(3) ? 0 : below(5'000'000);
    event.start = start;
    const auto process = static_cast<std::size_t>(one_in(4) ? below(3) : 0);
    event.process = static_cast<std::uint32_t>(100 + 100 * process);
    event.thread = static_cast<std::uint32_t>(one_in(10) ? below(5) : 1);
    event.file = static_cast<std::uint32_t>(one_in(5) ? below(40) : below(3));
    cpu[process] += below(1000) - (one_in(20) ? 2000 : 0);
    if (!one_in(10)) event.cpu = std::max<std::int64_t>(cpu[process], 0);
    if (!one_in(10)) event.duration = below(1'000'000);
    event.kind = one_in(8) ? static_cast<Kind>(below(16)) : static_cast<Kind>(below(2));
    event.interface = static_cast<Interface>(one_in(10) ? below(PLAIT_TRACE_INTERFACE_COUNT) : 1);
    event.flags = static_cast<std::uint16_t>(one_in(4) ? below(65536) : below(2) * 0x80);
    const std::int64_t unit = one_in(2) ? 512 : 1;
    event.length = one_in(3) ? 4096 : unit * below(100'000);
    if (!one_in(10)) event.offset = one_in(20) ? below(std::uint64_t{1} << 62) : unit * below(1'000'000);
    if (!content.events.empty() && one_in(2) && content.events.back().offset >= 0)
      event.offset = content.events.back().offset + content.events.back().length;
    event.result = one_in(8) ? -below(100) : event.length;
    if (one_in(3)) event.operation = one_in(10) ? random() : static_cast<std::uint64_t>(below(50));
    content.events.push_back(event);
  }
  return content;
}

}  // namespace plait::trace
