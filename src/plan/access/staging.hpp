/// The staging memory of a rank: its limit, and its division into buffers.
#pragma once

#include <algorithm>
#include <cstdint>

#include "plan/access/access_options.hpp"
#include "plan/section/section_owners.hpp"

namespace plait::plan {

/// Staging memory of a rank if the caller states none.
inline constexpr std::int64_t kDefaultMemory = std::int64_t{32} << 20;
/// The size of windows if the memory suffices: the best of 128 KiB to 8 MiB in `plait bench io`.  Such a window stays
/// in a core's cache between the store and the ranks.
inline constexpr std::int64_t kWindowBytes = std::int64_t{1} << 20;
/// Windows of small shares are smaller than kWindowBytes, so that each window is filled several times: the first use of
/// memory costs as much as filling it several times.  They are not smaller than this.
inline constexpr std::int64_t kMinWindowBytes = std::int64_t{128} << 10;
/// Minimum number of windows of a thread's share.  Additional windows cost threads nothing; ranks, however, wait for
/// each other at every window.
inline constexpr std::int64_t kThreadWindows = 4;
/// Windows of each reader: one is filled while the elements of the other one are copied out.
inline constexpr int kSlots = 2;
/// Maximum number of messages between nodes that a rank has under way in each direction: one is packed or unpacked
/// while the other one is transferred.
inline constexpr int kInFlight = 2;
/// Returns kInFlight if the memory suffices for buffers of a useful size, and 1 otherwise.  positions: maximum number
/// of positions of one element in a local array, so that a message may be as long as this number of windows.
constexpr int messages_in_flight(std::int64_t memory_bytes, std::int64_t positions = 1) {
  constexpr std::int64_t kUsefulBytes = std::int64_t{64} << 10;
  return memory_bytes / (kSlots + 2 * kInFlight * positions) >= kUsefulBytes ? kInFlight : 1;
}
/// Runs shorter than this, with gaps no longer than this, are read together with the gaps.  Reading this many bytes
/// costs about as much as one more request.
inline constexpr std::int64_t kSieveGap = 4096;
/// Maximum number of bytes that such a read covers.
inline constexpr std::int64_t kSieveBytes = std::int64_t{256} << 10;

/// Bytes of a cache line, the unit in which memory is written.
inline constexpr std::int64_t kLineBytes = 64;

/// How far apart elements are in a window that are neighbours in a rank's array.  If they are far apart, a window fills
/// only a part of each cache line of the array.
struct ArrayNeighbours {
  std::int64_t distance = 1;  ///< elements of a window from one neighbour to the next one
  std::int64_t count = 1;     ///< neighbours in a row

  /// Returns the number of neighbours that a window of this many elements contains at once.
  std::int64_t in_window(std::int64_t elements) const {
    return std::clamp<std::int64_t>(elements / distance, 1, count);
  }
};

/// Returns the neighbours in the dimension in which a rank's array is contiguous. If the whole section fits into a
/// core's cache, it returns a default value, because the order of accesses does not matter then.
///
/// Example: 325x406x508 elements in C order are read into an array in Fortran order. The first dimension is contiguous
/// there, so neighbours are 406 * 508 = 206,248 elements apart. A window of 524,288 elements contains 2 of them: it
/// writes 4 bytes of each cache line of the array if elements have 2 bytes.
ArrayNeighbours array_neighbours(const SectionOwners& owners, const AccessTask& task);

/// Returns the size of windows that fill whole cache lines of a rank's array, and at least kWindowBytes.  An array that
/// is smaller than a core's cache needs no larger windows, because its lines stay in the cache between windows.
/// bytes: size of an element.
std::int64_t preferred_window_bytes(const SectionOwners& owners, std::int64_t bytes, const ArrayNeighbours& neighbours);

/// The buffers of a rank, each at most as large as a window: kSlots windows, the messages between nodes, and one for
/// reading scattered short runs together with the gaps between them (a sieve).  A value.
///
/// Example: with 32 MiB, a contiguous section, two nodes and a layout without halos, a rank has 2 windows and 2
/// messages in each direction, so a window has at most 32 MiB / 6.
class Staging {
 public:
  /// each_node Each node reads everything that its ranks need, so that there are no messages between nodes.
  Staging(const SectionOwners& owners, const AccessTask& task, const AccessOptions& options, bool each_node);

  std::int64_t memory_bytes() const { return memory_bytes_; }
  /// Returns the maximum number of messages between nodes that a rank has under way in each direction.
  int in_flight() const { return in_flight_; }
  /// Returns the maximum number of elements of a window.
  /// errors  kArgument: the memory is too small for one element in each buffer.
  std::int64_t max_window() const;
  /// Returns the size of all buffers for windows of this number of elements.
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
