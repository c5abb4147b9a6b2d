/// The messages of one window of every reader, summed for each rank instead of simulated one by one.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/access/access_plan.hpp"
#include "simulation/access/barrier.hpp"
#include "simulation/access/network.hpp"

namespace plait::simulation {

/// Computes the times of exchanges that have too many messages to simulate one by one. In an exchange, windows (pieces
/// of the file in memory) with the same number, one of every reader (rank that accesses the file), travel between
/// nodes. All ranks begin the exchange together. A rank ends when its messages have had their latencies one after
/// another, the bytes of its node have crossed its link, and the bytes of all nodes have crossed the network.
/// cost  O(messages) for the first query about a window number.
/// memory  O(ranks).
class WindowTally {
 public:
  WindowTally(const plan::AccessPlan& plan, bool write, std::int64_t ranks_per_node, Resumer& resumer,
              Network& network);

  struct MessageTotals {
    std::int64_t sent = 0;  ///< number of messages
    std::int64_t received = 0;
    std::int64_t sent_elements = 0;
    std::int64_t received_elements = 0;
  };
  /// The caller queries window numbers in ascending order.
  const MessageTotals& share(std::int64_t window_number, std::int64_t rank);
  /// Time of the exchange of a rank after all ranks have arrived.
  Time exchange_time(std::int64_t window_number, std::int64_t rank);
  Barrier& barrier() { return barrier_; }

 private:
  struct NodeBytes {
    std::int64_t out = 0;
    std::int64_t in = 0;
  };
  /// The sums of one window number. At most two numbers are in use: no rank begins an exchange before all ranks have
  /// ended the previous one.
  struct WindowSums {
    std::int64_t number = -1;
    std::vector<MessageTotals> ranks;
    std::vector<NodeBytes> nodes;
    std::int64_t bytes = 0;
  };
  /// Returns the sums of a window number, computed at its first use.
  const WindowSums& find_sums(std::int64_t window_number);
  void compute_sums(WindowSums& sums) const;

  const plan::AccessPlan& plan_;
  bool write_;
  std::int64_t ranks_per_node_;
  Network& network_;
  Barrier barrier_;
  WindowSums sums_[2];
};

}  // namespace plait::simulation
