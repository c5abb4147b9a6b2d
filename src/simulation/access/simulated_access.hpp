/// A collective read or write of a file by many ranks, on the virtual clock.
#pragma once

#include <functional>

#include "plait/layout.hpp"
#include "plan/access/access.hpp"
#include "simulation/access/outcome.hpp"
#include "simulation/access/settings.hpp"

namespace plait::simulation {

/// Which access of which array.
struct AccessRequest {
  plan::Section section;
  Layout layout;
  std::int64_t element_bytes = 1;
  std::int64_t data_offset = 0;
  std::int64_t ranks = 1;
  bool write = false;
  plan::AccessOptions options;
};

/// The plan that the ranks of such a machine would make.
/// errors  kArgument: as plan_access(), and ranks of the layout that there are not.
plan::AccessPlan plan_on(const AccessRequest& request, const AccessSettings& settings);

/// What the ranks of an access do (src/access), driven by its plan: windows that are claimed, filled, visited and
/// flushed, requests of the file, messages between nodes in their pairwise order.  No byte is moved.  Calls, copies and
/// waits take what the cost model says, messages what links of nodes let pass, requests what the device makes of them.
///
/// Where a step has more messages between nodes than `most_messages` its exchange is taken as a whole (StepTally).
/// cost    O(log ranks) for each window that a rank visits, each message and each file request; no dependence on the
///         number of elements besides.  memory  O(ranks * ranks of a node), and messages under way.
/// threads  one at a time.
/// progress  hears the share of what is to be done, 0 to 1, now and then; what it throws ends the run.
/// errors  kArgument: settings; a plan that is too large.
AccessOutcome simulate_access(const AccessRequest& request, const AccessSettings& settings,
                              const std::function<void(double)>& progress = {});

constexpr std::int64_t kMostRequests = 50'000'000;  ///< of a direct access, of all ranks

}  // namespace plait::simulation
