/// What reading and writing in two phases have in common.
#pragma once

#include <vector>

#include "access/access.hpp"
#include "access/node_exchange.hpp"
#include "access/window_copier.hpp"
#include "access/window_io.hpp"
#include "collective/agree.hpp"
#include "collective/first_error.hpp"
#include "collective/stopwatch.hpp"
#include "transport/gates.hpp"

namespace plait::access {

/// The windows of a node, the slots on which its workers wait for each other, and the first error of this worker.
class WindowMove : public Move {
 protected:
  using Range = plan::AccessPlan::Range;

  explicit WindowMove(const Access& access)
      : access_(access),
        plan_(access_.plan),
        transport_(access_.transport),
        sharers_(access_.sees_all_arrays ? 1 : transport_.node_size()),
        slot_bytes_(plan_.window() * plan_.element_bytes()),
        io_(plan_, access_.store, access_.data_offset),
        remote_(access_) {
    for (const copy::LocalArray& array : access_.arrays) copiers_.emplace_back(plan_, array.rank);
  }

  /// Collective over the transport.
  void share_windows() { windows_ = &transport_.windows(plan::kSlots * slot_bytes_); }

  int me() const { return transport_.node_rank(); }
  /// The i-th peer whose windows this worker visits in a step.  Each begins with its own, so that no two of them touch
  /// neighbouring elements at the same time.
  int peer(int i) const { return (me() + i) % transport_.node_size(); }
  Range range_of(int peer, std::int64_t step) const { return plan_.window(transport_.worker_on_node(peer), step); }
  std::byte* window(int peer, std::int64_t step) const {
    return windows_->part(peer) + step % plan::kSlots * slot_bytes_;
  }
  transport::Slot& slot(int peer, std::int64_t step) const {
    return transport_.gates().slot(peer, static_cast<int>(step % plan::kSlots));
  }
  /// How often the slot of a step has been used once this step is through.
  static std::uint32_t uses(std::int64_t step) { return static_cast<std::uint32_t>(step / plan::kSlots + 1); }

  void wait(std::atomic<std::uint32_t>& counter, std::uint32_t target) {
    const collective::Stopwatch watch(access_.times.wait);
    transport_.gates().wait(counter, target);
  }
  /// Counts this worker on a counter for which all sharers count once a use; wakes its waiter at the last one.
  void count(std::atomic<std::uint32_t>& counter, std::int64_t step) const {
    const std::uint32_t before = counter.fetch_add(1, std::memory_order_acq_rel);
    if (before + 1 == static_cast<std::uint32_t>(sharers_) * uses(step)) transport::wake_all(counter);
  }

  /// Runs `body` and keeps its error where it is the first one.  After that this worker only keeps the others going.
  template <typename Body>
  void keep_error(double& seconds, Body&& body) {
    const collective::Stopwatch watch(seconds);
    error_.keep(body);
  }
  bool failed() const { return error_.any(); }
  void throw_error() const { error_.rethrow(); }

  Access access_;
  const plan::AccessPlan& plan_;
  transport::Transport& transport_;
  int sharers_;  // workers that meet in one window: all of the node, or the owner alone where it sees all arrays
  std::int64_t slot_bytes_;
  WindowIo io_;
  NodeExchange remote_;
  std::vector<WindowCopier> copiers_;
  collective::FirstError error_;

 private:
  transport::SharedWindows* windows_ = nullptr;
};

}  // namespace plait::access
