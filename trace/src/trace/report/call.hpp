/// The form of an event in which analysers receive it, and the interface of analysers, which compute parts of a report.
#pragma once

#include <cstdint>
#include <span>

#include "plait/trace.hpp"
#include "trace/report/report.hpp"

namespace plait::trace::report {

/// The position of an access relative to the previous one of the same open: it begins at the end of that one, after it,
/// or before it.
enum class Sequence : std::uint8_t { kNone, kConsecutive, kSequential, kRandom };

constexpr std::uint32_t kNoFile = UINT32_MAX;

/// One event with dense numbers. Times are in ns since the first event.
struct Call {
  Event event;
  std::int64_t start = 0;
  std::int64_t end = 0;  ///< equals start if the duration is unknown
  std::int64_t unshared_start =
      0;  ///< unshared_start..end is the part of start..end in which no earlier call of the process ran
  std::int64_t unshared_wait_start =
      0;  ///< like `unshared_start`, among synchronous calls only; empty for an asynchronous one
  std::int64_t moved = 0;
  std::uint32_t process = 0;     ///< index of the process
  std::uint32_t open = kNoFile;  ///< index of the open
  std::uint32_t name = kNoFile;  ///< index of the file's name
  std::int8_t direction = -1;    ///< kReads or kWrites; -1: the call transferred no data, or failed
  Sequence sequence = Sequence::kNone;
  bool first_of_pair = false;  ///< true for the process's first event on this name
  bool opens = false;          ///< true for the first event of an open
  bool io = false;  ///< true for an input or output call of the level (logical or physical) that the report counts
  bool left_out = false;  ///< true on a file that the report does not count

  bool is_data() const { return direction >= 0; }
};

/// Computes one part of a report.
/// memory  bounded, except for some bytes for each process.
class Analyser {
 public:
  virtual ~Analyser() = default;
  virtual void add(std::span<const Call> calls) = 0;
  /// Stores its part of the report, after the last add().
  virtual void store_results(Report& report) const = 0;
};

}  // namespace plait::trace::report
