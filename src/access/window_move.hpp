/// The schedule that reading and writing in two phases share.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "access/access.hpp"
#include "access/node_exchange.hpp"
#include "access/window_copier.hpp"
#include "access/window_io.hpp"
#include "base/function_ref.hpp"
#include "collective/first_error.hpp"
#include "collective/stopwatch.hpp"
#include "transport/gates.hpp"

namespace plait::access {

/// The windows of a node and the workers that process them. src/access/window_move.cpp explains the schedule.
///
/// Every worker of the node copies its own elements from or to each window.  Each window is also transferred once: it
/// is filled from the store before the copies, or flushed to it after them.  A worker without a window to copy
/// transfers an unclaimed one, its own windows first, so a worker that shares its core with others leaves the store's
/// work to idle workers.  If workers see all arrays, one worker processes each window: the worker that claims it
/// transfers it and copies all of its elements.
class WindowMove : public Move {
 public:
  void run() final;

 protected:
  using Range = plan::PositionRange;

  explicit WindowMove(const Access& access);

  /// can_copy() returns true if this worker can copy its elements of a window now; can_transfer() returns true if a
  /// worker can fill or flush the window now.
  virtual bool can_copy(const transport::Slot& slot, std::int64_t window_number) const = 0;
  virtual bool can_transfer(const transport::Slot& slot, std::int64_t window_number) const = 0;
  /// Return the counter of a slot's copies and the counter of its transfers. Workers wait on the latter before they
  /// copy a window.
  virtual std::atomic<std::uint32_t>& copies(transport::Slot& slot) const = 0;
  virtual std::atomic<std::uint32_t>& transfers(transport::Slot& slot) const = 0;
  virtual void copy_elements(Range range, std::byte* window) = 0;
  virtual void transfer(Range range, std::byte* window) = 0;
  /// Sends and receives messages for the ranks of other nodes. Returns true if any was started or completed.
  virtual bool exchange(NodeExchange::OwnWindow own) = 0;
  /// True if windows are filled before workers copy from them.
  virtual bool transfers_first() const = 0;

  /// Returns how often the slot of a window has been used when this window is complete.
  static std::uint32_t uses(std::int64_t window_number) {
    return static_cast<std::uint32_t>(window_number / plan::kSlots + 1);
  }
  /// Returns the value of the copies counter of a window's slot when this window is complete.
  std::uint32_t all_copies(std::int64_t window_number) const {
    return static_cast<std::uint32_t>(sharers_) * uses(window_number);
  }

  /// Runs `body` and records its error if it is the first one.  After an error this worker only does what others wait
  /// for.
  template <typename Body>
  void keep_error(double& seconds, Body&& body) {
    const collective::Stopwatch watch(seconds);
    error_.keep(body);
  }
  bool failed() const { return error_.any(); }
  /// True if several workers use the same windows.
  bool shared() const { return sharers_ > 1; }
  /// True if any rank that reads from this worker's windows owns an element of the range.
  bool wanted(Range range) const;

  Access access_;
  WindowIo io_;
  NodeExchange remote_;
  std::vector<WindowCopier> copiers_;
  collective::FirstError error_;

 private:
  /// This worker's progress with the windows of one worker of its node.
  struct Progress {
    std::int64_t reader = 0;        // reader whose share the windows cover
    std::int64_t window_count = 0;  // number of windows that hold anything
    std::int64_t copied = 0;        // windows that this worker has copied
    std::int64_t claimed = 0;       // windows that this worker knows to be claimed
  };

  int me() const { return transport_.node_rank(); }
  /// True if windows hold elements of ranks on other nodes.
  bool apart() const { return transport_.nodes_apart() && !plan_.each_node(); }
  std::int64_t peer_reader(int peer) const;
  int served_peers() const;
  /// Returns the i-th peer in the order in which this worker copies windows.  Each worker begins with its own windows,
  /// so that two workers rarely touch neighbouring elements at the same time.
  int peer(int i) const { return (me() + i) % transport_.node_size(); }
  Progress& progress(int peer) { return progress_[static_cast<std::size_t>(peer)]; }
  Range peer_window(int peer, std::int64_t window_number) { return plan_.window(progress(peer).reader, window_number); }
  std::byte* window(int peer, std::int64_t window_number) const;
  transport::Slot& slot(int peer, std::int64_t window_number) const;

  template <typename Test>
  bool all(Test&& test) const {
    return std::all_of(progress_.begin(), progress_.end(), test);
  }
  void work_alone();
  void work_until(base::FunctionRef<bool()> done);
  bool has_work();
  /// True if every window that this worker may transfer is claimed.
  bool all_windows_claimed();
  bool copy_ready(int peer);
  bool transfer_ready(int peer);
  bool claim(int peer);
  bool copy_next();
  bool transfer_next();
  bool exchange_some();
  bool count_own();
  std::atomic<std::uint32_t>& awaited();
  void count_copy(int peer, std::int64_t window_number);

  const plan::AccessPlan& plan_;
  transport::Transport& transport_;
  int sharers_;  // workers that use one window: all of the node, or 1 if workers see all arrays
  std::int64_t slot_bytes_;
  int served_;                      // this worker may transfer the windows of peer(0) to peer(served_ - 1)
  std::vector<Progress> progress_;  // indexed by node rank
  std::vector<std::vector<plan::RankElements>> node_holdings_;  // of the node's ranks, if each node reads for itself
  std::int64_t counted_ = 0;  // own windows whose copy by this worker is counted, if nodes are apart
  transport::SharedWindows* windows_ = nullptr;
};

}  // namespace plait::access
