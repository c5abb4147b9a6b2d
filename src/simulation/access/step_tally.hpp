/// The exchange of a step as a whole: how much each rank sends and receives.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/access/access.hpp"
#include "simulation/access/barrier.hpp"
#include "simulation/access/network.hpp"

namespace plait::simulation {

/// For plans of so many messages that they cannot be followed one by one.  All ranks begin the exchange of a step
/// together, and each is done when its messages have had their latencies one after another, and the bytes of its node
/// have passed its link, and those of all have passed the network.
/// cost  Of the first question about a step: O(messages).  memory  O(ranks).
class StepTally {
 public:
  StepTally(const plan::AccessPlan& plan, bool write, std::int64_t on_node, Resumer& resumer, Network& network);

  struct Share {
    std::int64_t sent = 0;  ///< messages
    std::int64_t received = 0;
    std::int64_t sent_elements = 0;
    std::int64_t received_elements = 0;
  };
  /// Steps are asked for in their order.
  const Share& share(std::int64_t step, std::int64_t rank);
  /// How long the exchange of a rank takes, once all have come.
  Time takes(std::int64_t step, std::int64_t rank);
  Barrier& barrier() { return barrier_; }

 private:
  struct NodeBytes {
    std::int64_t out = 0;
    std::int64_t in = 0;
  };
  /// What is known of one step; two are under way at most, since no rank begins one before all have ended the last.
  struct Step {
    std::int64_t number = -1;
    std::vector<Share> ranks;
    std::vector<NodeBytes> nodes;
    std::int64_t bytes = 0;
  };
  const Step& at(std::int64_t step);
  void count(Step& step) const;

  const plan::AccessPlan& plan_;
  bool write_;
  std::int64_t on_node_;
  Network& network_;
  Barrier barrier_;
  Step steps_[2];
};

}  // namespace plait::simulation
