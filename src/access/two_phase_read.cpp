#include "access/refill.hpp"
#include "access/two_phase.hpp"
#include "access/window_move.hpp"

namespace plait::access {

namespace {

/// Reads: windows are filled, then all workers copy their elements out.
class Reader : public WindowMove {
 public:
  explicit Reader(const Access& access) : WindowMove(access) {}

 private:
  bool transfers_first() const override { return true; }
  bool can_transfer(const transport::Slot& slot, std::int64_t window_number) const override {
    // All workers have copied their elements out of window window_number - kSlots, which used the slot before.
    return transport::reached(slot.taken, final_copy_count(window_number) - final_copy_count(0));
  }
  bool can_copy(const transport::Slot& slot, std::int64_t window_number) const override {
    return transport::reached(slot.filled, slot_uses(window_number));
  }
  std::atomic<std::uint32_t>& transfers(transport::Slot& slot) const override { return slot.filled; }
  std::atomic<std::uint32_t>& copies(transport::Slot& slot) const override { return slot.taken; }

  void transfer(Range range, std::byte* window) override {
    if (has_failed() || !is_needed(range)) return;
    const auto read = [&] {
      io_.start_read(range, window);
      io_.finish_read();
    };
    run_recording_error(access_.times.io, [&] {
      if (is_shared()) {
        refill().fill(window, range.size() * access_.plan.element_bytes(), read);
      } else {
        read();
      }
    });
  }

  void copy_elements(Range range, std::byte* window) override {
    if (has_failed()) return;
    run_recording_error(access_.times.copy, [&] {
      for (std::size_t i = 0; i < copiers_.size(); ++i) copiers_[i].window_to_array(range, window, access_.arrays[i]);
    });
  }

  bool exchange(NodeExchange::OwnWindow own_window) override { return node_exchange_.deliver(own_window, error_); }
};

}  // namespace

std::unique_ptr<Move> make_two_phase_read(const Access& access) { return std::make_unique<Reader>(access); }

}  // namespace plait::access
