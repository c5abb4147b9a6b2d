/// One rank of a simulated access. It performs the operations of a worker of src/access in the same order.
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
  WindowTally* whole;  ///< simulates each exchange as a whole; nullptr: message by message
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
  /// True if the rank, which waits for windows, has work now.
  bool would_go_on() const;
  void wake();

 private:
  using Range = plan::PositionRange;
  struct Peer {
    std::int32_t distance = 0;
    std::int32_t rank = 0;
    std::int64_t elements = 0;
  };
  /// The argument of work_until(): the number of a window that this rank must have copied from all peers, or kAll for
  /// all windows.
  static constexpr std::int64_t kAll = -1;

  Task spend(Phase phase, Time time);
  Task agree();
  Task direct();
  Task two_phase();
  Task work_until(std::int64_t window_number);
  Task exchange(std::int64_t window_number);
  Task exchange_at_once(std::int64_t window_number);
  Task transfer(Range range);
  Task read_file(std::int64_t offset, std::int64_t bytes, double rate);
  Task write_file(std::int64_t offset, std::int64_t bytes, double rate);

  void add(Phase phase, Time from);
  Time copying(std::int64_t elements) const;
  bool apart() const { return context_.network.nodes() > 1 && !context_.plan.each_node(); }
  bool owns_elements_in(Range range) const;
  bool reached(std::int64_t window_number) const;
  bool copy_ready(std::size_t peer) const;
  bool transfer_ready(std::size_t peer) const;
  bool has_work() const;
  std::size_t peer(std::size_t i) const { return (me_ + i) % node_.windows.size(); }
  std::int64_t all_copies(std::int64_t window_number) const {
    return static_cast<std::int64_t>(node_.windows.size()) * uses(window_number);
  }
  static std::int64_t uses(std::int64_t window_number) { return window_number / plan::kSlots + 1; }
  std::int64_t& copies(Windows& windows, std::int64_t window_number) const;
  std::int64_t& transfers(Windows& windows, std::int64_t window_number) const;
  void count_copy(std::size_t peer, std::int64_t window_number);
  void notify_node();
  std::vector<Peer> owners(std::int64_t window_number, bool reversed) const;
  std::vector<Peer> readers(std::int64_t window_number, bool reversed) const;
  Peer make_peer(std::int64_t rank, std::int64_t elements, bool reversed) const;
  RankOutcome& outcome() const { return context_.outcome.ranks[static_cast<std::size_t>(number_)]; }

  Context& context_;
  Node& node_;
  std::int64_t number_;
  std::size_t me_;
  std::size_t served_;
  std::vector<plan::RankElements> holdings_;
  std::vector<std::int64_t> copied_;  // number of windows copied, for each rank on the node
  std::int64_t until_ = kAll;
  std::coroutine_handle<> suspended_{};
};

}  // namespace plait::simulation
