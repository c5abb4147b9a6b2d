/// An event as the analysers see it, and what an analyser is.
#pragma once

#include <cstdint>
#include <span>

#include "plait/trace.hpp"
#include "trace/report/report.hpp"

namespace plait::trace::report {

enum class Sequence : std::uint8_t { kNone, kConsecutive, kSequential, kRandom };

constexpr std::uint32_t kNoFile = UINT32_MAX;

/// One event whose numbers have been looked up.  Times in ns since the first event.
struct Call {
  Event event;
  std::int64_t start = 0;
  std::int64_t end = 0;         ///< start where the duration is not known
  std::int64_t fresh = 0;       ///< the part of start..end in which nothing earlier of the process ran: fresh..end
  std::int64_t fresh_wait = 0;  ///< the same among synchronous calls; empty for an asynchronous one
  std::int64_t moved = 0;
  std::uint32_t process = 0;     ///< index
  std::uint32_t open = kNoFile;  ///< index of the open
  std::uint32_t name = kNoFile;  ///< index of the file's name
  std::int8_t direction = -1;    ///< kReads, kWrites; -1: no data, or failed
  Sequence sequence = Sequence::kNone;
  bool first_of_pair = false;  ///< the process's first event on this name
  bool opens = false;          ///< the first event of an open
  bool io = false;             ///< a call for input or output, of the level in question
  bool left_out = false;       ///< on a file that the report is not about

  bool is_data() const { return direction >= 0; }
};

/// Adds up one thing about a trace.  memory: bounded, but for some bytes a process.
class Analyser {
 public:
  virtual ~Analyser() = default;
  virtual void add(std::span<const Call> calls) = 0;
  virtual void result(Report& report) const = 0;
};

}  // namespace plait::trace::report
