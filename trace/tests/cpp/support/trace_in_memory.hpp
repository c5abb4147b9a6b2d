/// A trace in memory that a test composes event by event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plait/trace.hpp"

namespace plait_test {

namespace trace = plait::trace;

constexpr std::int64_t kMs = 1'000'000;  // in ns
constexpr std::int64_t kBlock = 4096;    // bytes of a cache block

class TraceInMemory final : public trace::Reader {
 public:
  std::size_t read(std::span<trace::Event> buffer) override {
    std::size_t count = 0;
    while (count < buffer.size() && next_ < all.size()) buffer[count++] = all[next_++];
    return count;
  }
  const trace::Description& description() const override { return details; }

  /// Adds a request to file 1; times are in ms.
  trace::Event& add(std::uint32_t process, double start, double duration, trace::Kind kind, std::int64_t offset,
                    std::int64_t length) {
    trace::Event& event = all.emplace_back();
    event.process = event.thread = process;
    event.file = 1;
    event.start = static_cast<std::int64_t>(start * 1e6);
    event.duration = static_cast<std::int64_t>(duration * 1e6);
    event.kind = kind;
    event.offset = offset;
    event.length = event.result = length;
    return event;
  }
  /// Names file 1 of a process.
  void name(std::uint32_t process, std::string name) { details.files.push_back({process, 1, std::move(name)}); }

  std::vector<trace::Event> all;
  trace::Description details;

 private:
  std::size_t next_ = 0;
};

}  // namespace plait_test
