/// The exchange of one window of every reader as a whole: how much each rank sends and receives.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/access/access_plan.hpp"
#include "simulation/access/barrier.hpp"
#include "simulation/access/network.hpp"

namespace plait::simulation {

/// Times of exchanges with too many messages to simulate one by one. All ranks begin the exchange together. A rank
/// ends when its messages have had their latencies one after another, the bytes of its node have crossed its link,
/// and the bytes of all nodes have crossed the network.
/// cost  O(messages) for the first query about a window number.
/// memory  O(ranks).
class WindowTally {
 public:
  WindowTally(const plan::AccessPlan& plan, bool write, std::int64_t ranks_per_node, Resumer& resumer,
              Network& network);

  struct Share {
    std::int64_t sent = 0;  ///< number of messages
    std::int64_t received = 0;
    std::int64_t sent_elements = 0;
    std::int64_t received_elements = 0;
  };
  /// The caller queries window numbers in ascending order.
  const Share& share(std::int64_t window_number, std::int64_t rank);
  /// Time of the exchange of a rank after all ranks have arrived.
  Time takes(std::int64_t window_number, std::int64_t rank);
  Barrier& barrier() { return barrier_; }

 private:
  struct NodeBytes {
    std::int64_t out = 0;
    std::int64_t in = 0;
  };
  /// The sums of one window number. At most two are in use, because no rank begins one before all have ended the
  /// previous one.
  struct WindowSums {
    std::int64_t number = -1;
    std::vector<Share> ranks;
    std::vector<NodeBytes> nodes;
    std::int64_t bytes = 0;
  };
  const WindowSums& at(std::int64_t window_number);
  void count(WindowSums& sums) const;

  const plan::AccessPlan& plan_;
  bool write_;
  std::int64_t ranks_per_node_;
  Network& network_;
  Barrier barrier_;
  WindowSums sums_[2];
};

}  // namespace plait::simulation
