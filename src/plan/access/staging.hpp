/// The staging memory of a rank: how large it may be, and into which buffers it is divided.
#pragma once

#include <algorithm>
#include <cstdint>

#include "plan/access/access_options.hpp"
#include "plan/section/section_owners.hpp"

namespace plait::plan {

inline constexpr std::int64_t kDefaultMemory = std::int64_t{32} << 20;
/// Windows are this large if the memory suffices: the best of 128 KiB to 8 MiB in `plait bench io`, small enough to
/// stay in a core's cache between the store and the ranks.
inline constexpr std::int64_t kWindowBytes = std::int64_t{1} << 20;
/// Windows are smaller than kWindowBytes, but not than this, if they are filled again and again then: the first use of
/// memory costs as much as filling it several times.
inline constexpr std::int64_t kMinWindowBytes = std::int64_t{128} << 10;
/// Windows of a thread's share.  More windows cost threads nothing, but ranks, which wait for each other's.
inline constexpr std::int64_t kThreadWindows = 4;
/// Two windows a reader: one fills while the other one is distributed.
inline constexpr int kSlots = 2;
/// Messages between nodes that a rank has under way each way at most: the next one is packed, or unpacked, while one is
/// carried.
inline constexpr int kInFlight = 2;
/// Returns kInFlight if the memory leaves buffers of a useful size, each for `positions` windows, and 1 otherwise.
constexpr int messages_in_flight(std::int64_t memory_bytes, std::int64_t positions = 1) {
  constexpr std::int64_t kUsefulBytes = std::int64_t{64} << 10;
  return memory_bytes / (kSlots + 2 * kInFlight * positions) >= kUsefulBytes ? kInFlight : 1;
}
/// Runs that are shorter than this, with gaps no longer than this, are read together with the gaps: reading so many
/// bytes costs about as much as one more request.
inline constexpr std::int64_t kSieveGap = 4096;
/// The longest stretch that such a read covers.
inline constexpr std::int64_t kSieveBytes = std::int64_t{256} << 10;

/// The buffers of a rank, each as large as a window at most: kSlots windows, the messages between nodes, and one for
/// reading scattered short runs together with the gaps between them (a sieve).  A value.
///
/// Example: 32 MiB for a contiguous section on two nodes, in a layout without halos, make 2 windows and 2 messages each
/// way, so that no window can have more than 32 MiB / 6.
class Staging {
 public:
  /// each_node  Each node reads everything that its ranks need, so that there are no messages between nodes.
  Staging(const SectionOwners& owners, const AccessTask& task, const AccessOptions& options, bool each_node);

  std::int64_t memory_bytes() const { return memory_bytes_; }
  /// Returns the number of messages between nodes that a rank has under way each way.
  int in_flight() const { return in_flight_; }
  /// Returns how many elements a window can have.
  /// errors  kArgument: the memory is too small for one element in each buffer.
  std::int64_t max_window() const;
  /// Returns the size of all buffers for windows of so many elements.
  std::int64_t bytes(std::int64_t window) const;
  /// Returns the size of the buffer for scattered short runs, 0 if the access needs none.
  std::int64_t sieve_bytes(std::int64_t window) const;
  /// Returns the size of the buffer for direct accesses to elements that are scattered in a rank's memory.
  std::int64_t direct_buffer_bytes() const { return std::max(std::min(kWindowBytes, memory_bytes_), element_bytes_); }

 private:
  std::int64_t memory_bytes_;
  std::int64_t element_bytes_;
  int in_flight_;
  int message_buffers_;
  bool sieves_;
};

}  // namespace plait::plan
