/// An event in the form that analysers use, and the interface of analysers.
#pragma once

#include <cstdint>
#include <span>

#include "plait/trace.hpp"
#include "trace/report/report.hpp"

namespace plait::trace::report {

enum class Sequence : std::uint8_t { kNone, kConsecutive, kSequential, kRandom };

constexpr std::uint32_t kNoFile = UINT32_MAX;

/// One event with dense numbers. Times are in ns since the first event.
struct Call {
  Event event;
  std::int64_t start = 0;
  std::int64_t end = 0;         ///< equals start if the duration is unknown
  std::int64_t fresh = 0;       ///< fresh..end is the part of start..end in which no earlier call of the process ran
  std::int64_t fresh_wait = 0;  ///< like `fresh`, among synchronous calls only; empty for an asynchronous one
  std::int64_t moved = 0;
  std::uint32_t process = 0;     ///< index of the process
  std::uint32_t open = kNoFile;  ///< index of the open
  std::uint32_t name = kNoFile;  ///< index of the file's name
  std::int8_t direction = -1;    ///< kReads, kWrites; -1: no data, or failed
  Sequence sequence = Sequence::kNone;
  bool first_of_pair = false;  ///< true for the process's first event on this name
  bool opens = false;          ///< true for the first event of an open
  bool io = false;             ///< true for a call for input or output of the counted level
  bool left_out = false;       ///< true on a file that the report does not count

  bool is_data() const { return direction >= 0; }
};

/// Computes one part of a report.
/// memory  bounded, except for some bytes for each process.
class Analyser {
 public:
  virtual ~Analyser() = default;
  virtual void add(std::span<const Call> calls) = 0;
  virtual void result(Report& report) const = 0;
};

}  // namespace plait::trace::report
