#include "access/two_phase.hpp"
#include "access/window_move.hpp"

namespace plait::access {

namespace {

/// Writes: all workers copy their elements into windows, which are then flushed.
class Writer : public WindowMove {
 public:
  explicit Writer(const Access& access) : WindowMove(access) {}

 private:
  bool transfers_first() const override { return false; }
  bool can_transfer(const transport::Slot& slot, std::int64_t window_number) const override {
    return transport::reached(slot.filled, final_copy_count(window_number));
  }
  bool can_copy(const transport::Slot& slot, std::int64_t window_number) const override {
    // Window window_number - kSlots, which used the slot before, has been flushed.
    return transport::reached(slot.taken, slot_uses(window_number) - 1);
  }
  std::atomic<std::uint32_t>& transfers(transport::Slot& slot) const override { return slot.taken; }
  std::atomic<std::uint32_t>& copies(transport::Slot& slot) const override { return slot.filled; }

  void transfer(Range range, std::byte* window) override {
    if (!has_failed()) run_recording_error(access_.times.io, [&] { io_.write(range, window); });
  }

  void copy_elements(Range range, std::byte* window) override {
    // A worker copies even after an error: other workers flush these windows, which must contain its elements.
    run_recording_error(access_.times.copy, [&] {
      for (std::size_t i = 0; i < copiers_.size(); ++i) copiers_[i].array_to_window(range, access_.arrays[i], window);
    });
  }

  bool exchange(NodeExchange::OwnWindow own_window) override { return node_exchange_.collect(own_window, error_); }
};

}  // namespace

std::unique_ptr<Move> make_two_phase_write(const Access& access) { return std::make_unique<Writer>(access); }

}  // namespace plait::access
