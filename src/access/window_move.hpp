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
  /// Return the counter of a slot's copies, and the counter of its transfers, on which workers wait before they copy a
  /// window.
  virtual std::atomic<std::uint32_t>& copies(transport::Slot& slot) const = 0;
  virtual std::atomic<std::uint32_t>& transfers(transport::Slot& slot) const = 0;
  /// Copies this worker's elements from or to a window.
  virtual void copy_elements(Range range, std::byte* window) = 0;
  /// Fills a window from the store, or flushes it to the store.
  virtual void transfer(Range range, std::byte* window) = 0;
  /// Sends and receives messages for the ranks of other nodes. Returns true if any was started or completed.
  virtual bool exchange(NodeExchange::OwnWindow own_window) = 0;
  /// Returns true if windows are filled before workers copy from them, false if workers copy first.
  virtual bool transfers_first() const = 0;

  /// Returns how often the slot of a window has been used when this window is complete.
  static std::uint32_t slot_uses(std::int64_t window_number) {
    return static_cast<std::uint32_t>(window_number / plan::kSlots + 1);
  }
  /// Returns the value of the copies counter of a window's slot when this window is complete.
  std::uint32_t final_copy_count(std::int64_t window_number) const {
    return static_cast<std::uint32_t>(workers_per_window_) * slot_uses(window_number);
  }

  /// Runs `body` and records its error if it is the first one.  After an error this worker only does what others wait
  /// for.
  template <typename Body>
  void run_recording_error(double& seconds, Body&& body) {
    const collective::Stopwatch watch(seconds);
    error_.keep(body);
  }
  bool has_failed() const { return error_.any(); }
  /// Returns true if several workers use the same windows.
  bool is_shared() const { return workers_per_window_ > 1; }
  /// Returns true if any rank that reads from this worker's windows owns an element of the range.
  bool is_needed(Range range) const;

  Access access_;
  WindowIo io_;
  NodeExchange node_exchange_;
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

  int own_node_rank() const { return transport_.node_rank(); }
  /// Returns true if windows have elements of ranks on other nodes.
  bool is_across_nodes() const { return transport_.nodes_apart() && !plan_.each_node(); }
  std::int64_t peer_reader(int peer) const;
  /// Returns the number of peers whose windows this worker may transfer.
  int count_served_peers() const;
  /// Returns the i-th peer in the order in which this worker copies windows.  Each worker begins with its own windows,
  /// so that two workers rarely touch neighbouring elements at the same time.
  int peer(int i) const { return (own_node_rank() + i) % transport_.node_size(); }
  Progress& progress(int peer) { return progress_[static_cast<std::size_t>(peer)]; }
  Range peer_window(int peer, std::int64_t window_number) { return plan_.window(progress(peer).reader, window_number); }
  std::byte* window(int peer, std::int64_t window_number) const;
  transport::Slot& slot(int peer, std::int64_t window_number) const;

  /// Returns true if the progress with each peer passes the test.
  template <typename Test>
  bool all(Test&& test) const {
    return std::all_of(progress_.begin(), progress_.end(), test);
  }
  void process_unclaimed_windows();
  /// Exchanges, copies and transfers, and sleeps when there is nothing to do, until is_done() returns true.
  void work_until(base::FunctionRef<bool()> is_done);
  /// Returns true if a window is ready for this worker to copy or transfer.
  bool has_work();
  /// Returns true if every window that this worker may transfer is claimed.
  bool all_windows_claimed();
  bool is_copy_ready(int peer);
  bool is_transfer_ready(int peer);
  bool claim(int peer);
  bool copy_next();
  bool transfer_next();
  bool exchange_some();
  bool count_own_copies();
  std::atomic<std::uint32_t>& find_counter_to_wait_for();
  void count_copy(int peer, std::int64_t window_number);

  const plan::AccessPlan& plan_;
  transport::Transport& transport_;
  int workers_per_window_;  // workers that use one window: all of the node, or 1 if workers see all arrays
  std::int64_t slot_bytes_;
  int served_peers_;                // this worker may transfer the windows of peer(0) to peer(served_peers_ - 1)
  std::vector<Progress> progress_;  // indexed by node rank
  std::vector<std::vector<plan::RankElements>> node_holdings_;  // of the node's ranks, if each node reads for itself
  std::int64_t counted_copies_ = 0;  // own windows whose copy by this worker is counted, if nodes are apart
  transport::SharedWindows* windows_ = nullptr;
};

}  // namespace plait::access
