#include "access/same.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <span>

#include "collective/agree.hpp"
#include "transport/gates.hpp"

namespace plait::access {

namespace {

constexpr std::int64_t kMostWindow = std::int64_t{1} << 20;
constexpr int kWindows = transport::Gates::kSlots;

/// One worker's part.  The worker of rank 0 on a node owns its windows.
class SharedRead {
 public:
  SharedRead(transport::Transport& transport, std::int64_t bytes, std::int64_t memory_bytes)
      : transport_(transport),
        bytes_(bytes),
        window_(std::clamp<std::int64_t>(memory_bytes / kWindows, 1, std::min(kMostWindow, bytes))),
        windows_(transport.windows(kWindows * window_)) {}

  void run(store::Store& store, std::int64_t offset, std::byte* data) {
    std::exception_ptr error;
    for (std::int64_t done = 0, step = 0; done < bytes_; done += window_, ++step) {
      const std::int64_t part = std::min(window_, bytes_ - done);
      transport::Slot& slot = transport_.gates().slot(0, static_cast<int>(step % kWindows));
      std::byte* const window = windows_.part(0) + step % kWindows * window_;
      const auto uses = static_cast<std::uint32_t>(step / kWindows);
      if (transport_.node_rank() == 0) {
        transport_.gates().wait(slot.taken, uses * others());
        if (transport_.rank() == 0 && !error)
          error = collective::caught([&] { store.read({{offset + done, window, part}}); });
        const std::exception_ptr lost =
            collective::caught([&] { transport_.broadcast_to_nodes({window, static_cast<std::size_t>(part)}); });
        if (!error) error = lost;
        transport::Gates::raise(slot.filled);
        std::memcpy(data + done, window, static_cast<std::size_t>(part));
      } else {
        transport_.gates().wait(slot.filled, uses + 1);
        std::memcpy(data + done, window, static_cast<std::size_t>(part));
        if (slot.taken.fetch_add(1, std::memory_order_acq_rel) + 1 == (uses + 1) * others())
          transport::wake_all(slot.taken);
      }
    }
    // Nobody leaves while others look at its windows: the agreement that follows sees to that.
    if (error) std::rethrow_exception(error);
  }

 private:
  std::uint32_t others() const { return static_cast<std::uint32_t>(transport_.node_size() - 1); }

  transport::Transport& transport_;
  std::int64_t bytes_;
  std::int64_t window_;
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
