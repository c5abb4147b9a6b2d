/// One rank of a simulated access. It performs the same operations as a worker of src/access, in the same order.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/access/access_plan.hpp"
#include "simulation/access/barrier.hpp"
#include "simulation/access/files.hpp"
#include "simulation/access/network.hpp"
#include "simulation/access/node.hpp"
#include "simulation/access/outcome.hpp"
#include "simulation/access/settings.hpp"
#include "simulation/access/task.hpp"
#include "simulation/access/window_tally.hpp"

namespace plait::simulation {

/// The state that all ranks share.
struct Context {
  const plan::AccessPlan& plan;
  const AccessSettings& settings;
  Resumer& resumer;
  Network& network;
  Messages& messages;
  Files& files;
  Barrier& barrier;
  WindowTally* tally;  ///< simulates each exchange as a whole; nullptr: exchanges are simulated message by message
  AccessOutcome& outcome;
  bool write = false;
  std::int64_t data_offset = 0;
  std::int64_t ranks_per_node = 1;  ///< ranks of each node except the last
  std::int64_t window_count = 0;    ///< number of windows that are simulated
  double copy_per_element = 0;      ///< seconds to copy one element between a window or message and an array
};

class Rank {
 public:
  Rank(Context& context, Node& node, std::int64_t number);

  /// Runs the whole access.
  Task run();
  /// True if the rank, which waits for windows, has work or needs to wait no more.
  bool can_continue() const;
  /// Resumes the rank, which waits for windows.
  void wake();

 private:
  using Range = plan::PositionRange;
  /// A rank on another node with which this rank exchanges elements of one window.
  struct Peer {
    std::int32_t distance = 0;  // number of ranks between them in the order of the exchange
    std::int32_t rank = 0;
    std::int64_t elements = 0;
  };
  /// The argument of work_until(): the number of a window that this rank must have copied from all peers, or kAll for
  /// all windows.
  static constexpr std::int64_t kAll = -1;

  Task spend(Phase phase, Time time);
  /// Waits at the barrier for all ranks.
  Task await_all_ranks();
  Task access_directly();
  Task access_in_two_phases();
  /// Copies and transfers windows until this rank has copied window `window_number` of all peers, or all windows
  /// (kAll).
  Task work_until(std::int64_t window_number);
  /// Exchanges the elements of one window with ranks on other nodes.
  Task exchange(std::int64_t window_number);
  Task exchange_at_once(std::int64_t window_number);
  /// Fills a window from the file, or flushes it to the file.
  Task transfer_window(Range range);
  Task read_file(std::int64_t offset, std::int64_t bytes, double rate);
  Task write_file(std::int64_t offset, std::int64_t bytes, double rate);

  /// Adds the time from `from` to now to a phase of the outcome.
  void record_time(Phase phase, Time from);
  Time copy_time(std::int64_t elements) const;
  /// True if windows travel between nodes: there are several, and they do not each read the file for themselves.
  bool exchanges_messages() const { return context_.network.nodes() > 1 && !context_.plan.each_node(); }
  bool owns_elements_in(Range range) const;
  bool is_done_until(std::int64_t window_number) const;
  bool copy_ready(std::size_t peer) const;
  bool transfer_ready(std::size_t peer) const;
  bool has_work() const;
  /// Index on the node of the i-th rank from this one on, so that ranks start at different windows.
  std::size_t nth_peer(std::size_t i) const { return (index_on_node_ + i) % node_.windows.size(); }
  /// Value of a window's copy counter when all ranks of the node have copied window `window_number`.
  std::int64_t all_copies(std::int64_t window_number) const {
    return static_cast<std::int64_t>(node_.windows.size()) * uses(window_number);
  }
  /// Number of windows up to `window_number` that use its slot: with kSlots = 2, windows 0, 2 and 4 are uses 1, 2 and
  /// 3.
  static std::int64_t uses(std::int64_t window_number) { return window_number / plan::kSlots + 1; }
  // The counters of the slot of a window: copies by ranks, and transfers between the window and the file.
  std::int64_t& copies(Windows& windows, std::int64_t window_number) const;
  std::int64_t& transfers(Windows& windows, std::int64_t window_number) const;
  /// Counts a copy by this rank; the last copy of a window wakes ranks that wait for it.
  void count_copy(std::size_t peer, std::int64_t window_number);
  /// Wakes the ranks of the node that can continue.
  void notify_node();
  // Ranks on other nodes that own elements of this rank's window, and readers on other nodes whose windows have
  // elements of this rank. `reversed` selects the direction in which distances count.
  std::vector<Peer> find_owner_peers(std::int64_t window_number, bool reversed) const;
  std::vector<Peer> find_reader_peers(std::int64_t window_number, bool reversed) const;
  Peer make_peer(std::int64_t rank, std::int64_t elements, bool reversed) const;
  RankOutcome& outcome() const { return context_.outcome.ranks[static_cast<std::size_t>(number_)]; }

  Context& context_;
  Node& node_;
  std::int64_t number_;
  std::size_t index_on_node_;
  std::size_t served_peers_;                  // number of peers, from this rank on, whose windows it may transfer
  std::vector<plan::RankElements> holdings_;  // the elements that this rank owns
  std::vector<std::int64_t> copied_;          // number of windows that this rank has copied, by peer
  std::int64_t awaited_window_ = kAll;        // argument of work_until() while this rank sleeps
  std::coroutine_handle<> suspended_{};
};

}  // namespace plait::simulation
