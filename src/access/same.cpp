// Reads a segment once, by worker 0, and passes it through two shared windows to all workers.
//
// Problem: if P ranks read the same bytes, the store would serve them P times.  If one rank read them and broadcast
// them as a whole, the others would wait for the read, and memory would be needed for a second copy.
//
// Idea: worker 0 reads window by window into shared memory.  The first worker of each node (node_rank 0) owns the
// node's windows and passes them on between nodes.  Counters that only grow order the use of the two slots: `filled`
// counts the fills of a slot, `taken` the copies out of it by the other workers of the node.
//
// Example: 5 MiB, windows of 1 MiB, 3 workers on one node, so others() = 2.  Windows 0 to 4 use the slots 0, 1, 0, 1,
// 0.  For window 2, uses = 1: worker 0 waits until `taken` of slot 0 is 1 * 2, so both others have copied window 0.  It
// then reads window 2 into the slot and raises `filled` to 2.  The others wait for filled = uses + 1 = 2 and copy.  The
// second of them raises `taken` to (1 + 1) * 2 = 4 and wakes worker 0, which waits for that before window 4.

#include "access/same.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <span>

#include "collective/agree.hpp"
#include "transport/gates.hpp"

namespace plait::access {

namespace {

/// Maximum size of a window.
constexpr std::int64_t kMaxWindowBytes = std::int64_t{1} << 20;
constexpr int kWindows = transport::Gates::kSlots;

/// The part of one worker.  The first worker of each node owns the windows.
class SharedRead {
 public:
  SharedRead(transport::Transport& transport, std::int64_t bytes, std::int64_t memory_bytes)
      : transport_(transport),
        bytes_(bytes),
        window_bytes_(std::clamp<std::int64_t>(memory_bytes / kWindows, 1, std::min(kMaxWindowBytes, bytes))),
        windows_(transport.windows(kWindows * window_bytes_)) {}

  void run(store::Store& store, std::int64_t offset, std::byte* data) {
    std::exception_ptr error;
    for (std::int64_t done = 0, number = 0; done < bytes_; done += window_bytes_, ++number) {
      const std::int64_t part_bytes = std::min(window_bytes_, bytes_ - done);
      transport::Slot& slot = transport_.gates().slot(0, static_cast<int>(number % kWindows));
      std::byte* const window = windows_.part(0) + number % kWindows * window_bytes_;
      const auto uses = static_cast<std::uint32_t>(number / kWindows);
      if (transport_.node_rank() == 0) {
        transport_.gates().wait(slot.taken, uses * others());
        // After an error worker 0 still passes windows on, with undefined content, so that the others do not wait
        // forever.
        if (transport_.rank() == 0 && !error)
          error = collective::caught([&] { store.read({{offset + done, window, part_bytes}}); });
        const std::exception_ptr broadcast_error =
            collective::caught([&] { transport_.broadcast_to_nodes({window, static_cast<std::size_t>(part_bytes)}); });
        if (!error) error = broadcast_error;
        transport::Gates::raise(slot.filled);
        std::memcpy(data + done, window, static_cast<std::size_t>(part_bytes));
      } else {
        transport_.gates().wait(slot.filled, uses + 1);
        std::memcpy(data + done, window, static_cast<std::size_t>(part_bytes));
        // Release: the owner of the window may overwrite it only after these reads.
        if (slot.taken.fetch_add(1, std::memory_order_acq_rel) + 1 == (uses + 1) * others())
          transport::wake_all(slot.taken);
      }
    }
    // The other workers of the node may still copy from this worker's windows. The agreement that follows this call
    // waits for them.
    if (error) std::rethrow_exception(error);
  }

 private:
  /// Returns the number of workers of the node that copy from this worker's windows.
  std::uint32_t others() const { return static_cast<std::uint32_t>(transport_.node_size() - 1); }

  transport::Transport& transport_;
  std::int64_t bytes_;
  std::int64_t window_bytes_;
  transport::SharedWindows& windows_;
};

}  // namespace

void read_same(transport::Transport& transport, store::Store& store, const store::ReadSegment& segment,
               std::int64_t memory_bytes) {
  if (segment.bytes == 0) return;
  if (transport.size() == 1) return store.read({segment});
  SharedRead(transport, segment.bytes, memory_bytes).run(store, segment.offset, segment.data);
}

}  // namespace plait::access
