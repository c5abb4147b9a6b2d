#include "access/two_phase.hpp"
#include "access/window_move.hpp"

namespace plait::access {

namespace {

class Writer : public WindowMove {
 public:
  explicit Writer(const Access& access) : WindowMove(access) {}

  void run() override {
    share_windows();
    for (std::int64_t step = 0; step < plan_.steps(); ++step) {
      for (int i = 0; i < sharers_; ++i) put(peer(i), step);
      remote_.collect(step, window(me(), step), error_);
      if (step > 0) flush(step - 1);
    }
    flush(plan_.steps() - 1);
    throw_error();
  }

 private:
  void put(int peer, std::int64_t step) {
    const Range range = range_of(peer, step);
    // Nobody waits for a window that is not there.  Counting it could pass for the last part of the slot's window
    // before.
    if (range.empty()) return;
    transport::Slot& target = slot(peer, step);
    wait(target.taken, uses(step) - 1);
    // Also after an error of this worker: peers write their windows, and those must not lack its part.
    keep_error(access_.times.copy, [&] {
      for (std::size_t i = 0; i < copiers_.size(); ++i)
        copiers_[i].array_to_window(range, access_.arrays[i], window(peer, step));
    });
    count(target.filled, step);
  }

  void flush(std::int64_t step) {
    const Range range = range_of(me(), step);
    transport::Slot& own = slot(me(), step);
    if (!range.empty()) {
      wait(own.filled, static_cast<std::uint32_t>(sharers_) * uses(step));
      if (!failed()) keep_error(access_.times.io, [&] { io_.write(range, window(me(), step)); });
    }
    transport::Gates::raise(own.taken);
  }
};

}  // namespace

std::unique_ptr<Move> make_two_phase_write(const Access& access) { return std::make_unique<Writer>(access); }

}  // namespace plait::access
