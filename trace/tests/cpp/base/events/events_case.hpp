// Helpers of the tests of the event writer, which is written in C.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/events/events.h"
#include "folder.hpp"
#include "plait/trace.hpp"
#include "trace_binary_case.hpp"

namespace plait_test::binary {

/// A test that records a trace in a new folder.
class TraceTest : public plait_test::FolderTest {
 protected:
  std::string trace_ = path("t.plait");

  int begin(std::uint32_t file = 1, std::uint64_t operation = 1, const char* command = "test") const {
    return plait_events_begin(trace_.c_str(), command, -1, file, operation);
  }
};

/// Runs a function in a forked process; returns the wait status.
inline int run_in_child(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

/// Returns a logical read of 100 bytes that took 10 ns.
inline plait_event make_event(std::int64_t start, std::int64_t offset, std::uint32_t file = 1) {
  plait_event event{};
  event.start = start;
  event.duration = 10;
  event.offset = offset;
  event.length = event.result = 100;
  event.file = file;
  event.interface = PLAIT_INTERFACE_POSIX;
  event.flags = PLAIT_EVENT_LOGICAL;
  return event;
}

/// Records events at the offsets `offset`, `offset` + 1, and so on, which identify them.
inline void put_events(int count, std::int64_t offset = 0, std::uint32_t file = 1) {
  for (int i = 0; i < count; ++i) {
    const plait_event event = make_event(plait_events_now(), offset + i, file);
    plait_events_put(&event);
  }
}

inline std::multiset<std::int64_t> event_offsets(const std::vector<plait::trace::Event>& events) {
  std::multiset<std::int64_t> all;
  for (const plait::trace::Event& event : events) all.insert(event.offset);
  return all;
}

/// Returns 0, 1, ..., end - 1.
inline std::multiset<std::int64_t> offsets_below(std::int64_t end) {
  std::multiset<std::int64_t> all;
  for (std::int64_t i = 0; i < end; ++i) all.insert(i);
  return all;
}

inline bool is_sorted_by_start(const std::vector<plait::trace::Event>& events) {
  return std::is_sorted(events.begin(), events.end(),
                        [](const plait::trace::Event& a, const plait::trace::Event& b) { return a.start < b.start; });
}

}  // namespace plait_test::binary
