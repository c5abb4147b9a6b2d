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

/// Makes the plan that the ranks of such a machine would make.
/// errors  kArgument: those of plan_access(), and a layout with ranks that do not exist.
plan::AccessPlan plan_on(const AccessRequest& request, const AccessSettings& settings);

/// Simulates the ranks of an access (src/access), driven by its plan: windows that are claimed, filled, copied from
/// and flushed, file requests, and messages between nodes in their pairwise order. No data is transferred. The cost
/// model gives the time of calls, copies and waits, the links of the nodes that of messages, and the device that of
/// requests.
///
/// If one window of every reader needs more messages between nodes than `max_messages`, its exchange is simulated as
/// a whole (WindowTally).
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
