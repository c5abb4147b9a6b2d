#include <exception>

#include "engine/agree.hpp"
#include "engine/dealer.hpp"
#include "engine/node_exchange.hpp"
#include "engine/stopwatch.hpp"
#include "engine/two_phase.hpp"
#include "engine/window_io.hpp"
#include "transport/gates.hpp"

namespace plait::engine {

namespace {

using Range = plan::AccessPlan::Range;
using transport::Gates;

class Writer : public Move {
 public:
  explicit Writer(const Access& access)
      : access_(access),
        plan_(access_.plan),
        transport_(access_.transport),
        sharers_(access.sees_all_arrays ? 1 : transport_.node_size()),
        slot_bytes_(plan_.window() * plan_.element_bytes()),
        io_(plan_, access.store, access.data_offset),
        remote_(access_) {
    for (const LocalArray& array : access.arrays) dealers_.emplace_back(plan_, array.rank);
  }

  void run() override {
    windows_ = &transport_.windows(plan::kSlots * slot_bytes_);
    for (std::int64_t step = 0; step < plan_.steps(); ++step) {
      // Each worker begins with its own window, so that no two of them put neighbouring elements at the same time.
      for (int i = 0; i < sharers_; ++i)
        put((transport_.node_rank() + i) % transport_.node_size(), step);
      remote_.collect(step, window(transport_.node_rank(), step));
      if (step > 0) flush(step - 1);
    }
    flush(plan_.steps() - 1);
    if (error_) std::rethrow_exception(error_);
  }

 private:
  /// After the first error this worker only keeps the others going.
  template <typename Body>
  void keep_error(Body&& body) {
    if (!error_) error_ = caught(body);
  }

  std::byte* window(int node_rank, std::int64_t step) const {
    return windows_->part(node_rank) + step % plan::kSlots * slot_bytes_;
  }
  transport::Slot& slot(int node_rank, std::int64_t step) const {
    return transport_.gates().slot(node_rank, static_cast<int>(step % plan::kSlots));
  }
  static std::uint32_t uses(std::int64_t step) { return static_cast<std::uint32_t>(step / plan::kSlots + 1); }

  void put(int peer, std::int64_t step) {
    const Range range = plan_.window(transport_.worker_on_node(peer), step);
    transport::Slot& target = slot(peer, step);
    if (!range.empty()) {
      {
        const Stopwatch watch(access_.times.wait);
        transport_.gates().wait(target.taken, uses(step) - 1);
      }
      const Stopwatch watch(access_.times.copy);
      keep_error([&] {
        for (std::size_t i = 0; i < dealers_.size(); ++i)
          dealers_[i].array_to_window(range, access_.arrays[i], window(peer, step));
      });
    }
    const std::uint32_t before = target.filled.fetch_add(1, std::memory_order_acq_rel);
    if (before + 1 == static_cast<std::uint32_t>(sharers_) * uses(step)) transport::wake_all(target.filled);
  }

  void flush(std::int64_t step) {
    const Range range = plan_.window(transport_.rank(), step);
    transport::Slot& own = slot(transport_.node_rank(), step);
    if (!range.empty()) {
      {
        const Stopwatch watch(access_.times.wait);
        transport_.gates().wait(own.filled, static_cast<std::uint32_t>(sharers_) * uses(step));
      }
      const Stopwatch watch(access_.times.io);
      keep_error([&] { io_.write(range, window(transport_.node_rank(), step)); });
    }
    Gates::raise(own.taken);
  }

  Access access_;
  const plan::AccessPlan& plan_;
  transport::Transport& transport_;
  int sharers_;  // workers that meet in one window: all of the node, or the owner alone where it sees all arrays
  std::int64_t slot_bytes_;
  transport::SharedWindows* windows_ = nullptr;
  WindowIo io_;
  NodeExchange remote_;
  std::vector<Dealer> dealers_;
  std::exception_ptr error_;
};

}  // namespace

std::unique_ptr<Move> make_two_phase_write(const Access& access) { return std::make_unique<Writer>(access); }

}  // namespace plait::engine
