#include "access/two_phase.hpp"
#include "access/window_move.hpp"

namespace plait::access {

namespace {

class Reader : public WindowMove {
 public:
  explicit Reader(const Access& access) : WindowMove(access) {}

  void run() override {
    share_windows();
    fill(0);
    for (std::int64_t step = 0; step < plan_.steps(); ++step) {
      if (step + 1 < plan_.steps()) fill(step + 1);
      for (int i = 0; i < sharers_; ++i) take(peer(i), step);
      remote_.deliver(step, window(me(), step), error_);
      // The own slot is free for the next window only once the messages are packed as well.
      count(slot(me(), step).taken, step);
    }
    throw_error();
  }

 private:
  void fill(std::int64_t step) {
    const Range range = range_of(me(), step);
    transport::Slot& own = slot(me(), step);
    if (!range.empty()) {
      wait(own.taken, static_cast<std::uint32_t>(sharers_) * (uses(step) - 1));
      if (!failed())
        keep_error(access_.times.io, [&] {
          io_.start_read(range, window(me(), step));
          io_.finish_read();
        });
    }
    transport::Gates::raise(own.filled);
  }

  void take(int peer, std::int64_t step) {
    const Range range = range_of(peer, step);
    if (!range.empty()) {
      wait(slot(peer, step).filled, uses(step));
      if (!failed())
        keep_error(access_.times.copy, [&] {
          for (std::size_t i = 0; i < copiers_.size(); ++i)
            copiers_[i].window_to_array(range, window(peer, step), access_.arrays[i]);
        });
    }
    if (peer != me()) count(slot(peer, step).taken, step);
  }
};

}  // namespace

std::unique_ptr<Move> make_two_phase_read(const Access& access) { return std::make_unique<Reader>(access); }

}  // namespace plait::access
