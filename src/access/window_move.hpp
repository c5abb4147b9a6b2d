/// What reading and writing in two phases have in common.
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

/// The windows of a node, and who does what with them.
///
/// Every worker of the node visits each window: it copies its own elements.  A window is also moved, once: filled from
/// the store before the visits, or flushed to it after them.  Whoever has nothing to visit moves a window that nobody has
/// begun with, its own ones first; so a worker that shares its core with others leaves the store to those that do not.
/// Where workers see all arrays nobody visits another one's windows: whoever claims a window moves it and copies all of
/// its elements.
class WindowMove : public Move {
 public:
  void run() final;

 protected:
  using Range = plan::PositionRange;

  explicit WindowMove(const Access& access);

  /// Whether this worker can copy its elements of a peer's window now, and whether someone can move the window.
  virtual bool can_visit(const transport::Slot& slot, std::int64_t step) const = 0;
  virtual bool can_move(const transport::Slot& slot, std::int64_t step) const = 0;
  /// What visits of a window add to, one each, and what a worker waits on that is to visit it.
  virtual std::atomic<std::uint32_t>& visits(transport::Slot& slot) const = 0;
  virtual std::atomic<std::uint32_t>& moves(transport::Slot& slot) const = 0;
  virtual void visit(Range range, std::byte* window) = 0;
  virtual void move(Range range, std::byte* window) = 0;
  /// Goes on with messages to and from the ranks of other nodes; whether anything moved.
  virtual bool exchange(NodeExchange::OwnWindow own) = 0;
  /// Whether windows are moved before they are visited.
  virtual bool moves_first() const = 0;

  /// How often the slot of a step has been used once this step is through.
  static std::uint32_t uses(std::int64_t step) { return static_cast<std::uint32_t>(step / plan::kSlots + 1); }
  /// Visits of the slot of a step once this step is through.
  std::uint32_t all_visits(std::int64_t step) const { return static_cast<std::uint32_t>(sharers_) * uses(step); }

  /// Runs `body` and keeps its error where it is the first one.  After that this worker only keeps the others going.
  template <typename Body>
  void keep_error(double& seconds, Body&& body) {
    const collective::Stopwatch watch(seconds);
    error_.keep(body);
  }
  bool failed() const { return error_.any(); }
  /// Whether other workers look at the windows as well.
  bool shared() const { return sharers_ > 1; }
  /// Whether some worker that looks at the windows wants anything of a range.
  bool wanted(Range range) const;

  Access access_;
  WindowIo io_;
  NodeExchange remote_;
  std::vector<WindowCopier> copiers_;
  collective::FirstError error_;

 private:
  /// How far this worker has come with the windows of a worker of its node.
  struct Progress {
    std::int64_t reader = 0;   // whose share its windows are of
    std::int64_t steps = 0;    // windows that hold anything
    std::int64_t visited = 0;  // by this worker
    std::int64_t claimed = 0;  // by anyone, as far as this worker has seen
  };

  int me() const { return transport_.node_rank(); }
  /// Whether windows have something of ranks that do not see them.
  bool apart() const { return transport_.nodes_apart() && !plan_.each_node(); }
  std::int64_t reader_of(int peer) const;
  int served_peers() const;
  /// The i-th peer whose windows this worker looks at.  Each begins with its own, so that no two of them touch
  /// neighbouring elements at the same time.
  int peer(int i) const { return (me() + i) % transport_.node_size(); }
  Progress& progress(int peer) { return progress_[static_cast<std::size_t>(peer)]; }
  Range range_of(int peer, std::int64_t step) { return plan_.window(progress(peer).reader, step); }
  std::byte* window(int peer, std::int64_t step) const;
  transport::Slot& slot(int peer, std::int64_t step) const;

  template <typename Test>
  bool all(Test&& test) const {
    return std::all_of(progress_.begin(), progress_.end(), test);
  }
  void work_alone();
  void work_until(base::FunctionRef<bool()> done);
  bool something_to_do();
  /// Of the windows that this worker may move.
  bool nothing_left_to_move();
  bool visitable(int peer);
  bool movable(int peer);
  bool claim(int peer);
  bool visit_one();
  bool move_one();
  bool exchange_some();
  bool count_own();
  std::atomic<std::uint32_t>& awaited();
  void count_visit(int peer, std::int64_t step);

  const plan::AccessPlan& plan_;
  transport::Transport& transport_;
  int sharers_;  // workers that meet in one window: all of the node, or the owner alone where it sees all arrays
  std::int64_t slot_bytes_;
  int served_;                                       // the first so many peers whose windows this worker may move
  std::vector<Progress> progress_;                   // by node rank
  std::vector<std::vector<plan::Holding>> wanting_;  // of the node's ranks, where each node reads for itself
  std::int64_t counted_ = 0;                         // visits of its own windows, where nodes are apart
  transport::SharedWindows* windows_ = nullptr;
};

}  // namespace plait::access
