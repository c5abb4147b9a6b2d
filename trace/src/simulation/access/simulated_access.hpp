/// Simulation of a collective read or write of a file by many ranks, on the virtual clock.
#pragma once

#include <functional>

#include "plait/layout.hpp"
#include "plan/access/access_plan.hpp"
#include "simulation/access/outcome.hpp"
#include "simulation/access/settings.hpp"

namespace plait::simulation {

/// Describes the access: the array, its layout and the ranks.
struct AccessRequest {
  plan::Section section;
  Layout layout;
  std::int64_t element_bytes = 1;
  std::int64_t data_offset = 0;
  std::int64_t ranks = 1;
  bool write = false;
  plan::AccessOptions options;
};

/// Makes the plan that the ranks of the machine in `settings` would make.
/// errors  kArgument: those of plan_access(), and a layout with ranks that do not exist.
plan::AccessPlan plan_simulated_access(const AccessRequest& request, const AccessSettings& settings);

/// Simulates what the ranks of an access do (src/access): they claim, fill, copy from and flush windows (pieces of the
/// file in memory), make file requests, and exchange messages between nodes in pairs. No data is transferred. The cost
/// model determines how long calls, copies and waits take, the links of the nodes how long messages take, and the
/// device how long requests take.
///
/// If one window of every reader needs more messages between nodes than `max_messages`, WindowTally computes the time
/// of its exchange from sums instead.
/// cost    O(log ranks) for each copy from a window, each message and each file request; independent of the number of
/// elements.
/// memory  O(ranks * ranks of a node), and messages in progress.
/// threads  one at a time.
/// progress  receives the fraction that is complete, 0 to 1, from time to time; an exception that it throws ends the
/// run.
/// errors  kArgument: settings; a plan that is too large.
AccessOutcome simulate_access(const AccessRequest& request, const AccessSettings& settings,
                              const std::function<void(double)>& progress = {});

/// Maximum number of requests of a direct access, of all ranks together.
constexpr std::int64_t kMaxRequests = 50'000'000;

}  // namespace plait::simulation
