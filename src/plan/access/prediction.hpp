/// Predicts the times of an access from its plan and the machine constants of its options.
#pragma once

#include <cstdint>

#include "plan/access/access_plan.hpp"

namespace plait::plan {

/// Returns the predicted time of a strategy, which is the time of the rank with the largest part.
double predicted_seconds(const AccessPlan& plan, Strategy strategy);
/// Returns the predicted time of two-phase access by a different number of readers.
double predicted_seconds_by(const AccessPlan& plan, std::int64_t readers);
/// Returns the predicted time of two-phase access in which each node reads for its ranks.
/// pre  can_read_in_each_node(plan)
double predicted_seconds_in_each_node(const AccessPlan& plan);
/// Returns the predicted time of direct access to a local store. predicted_seconds() adds the time of messages if
/// requests between nodes are short.
double direct_seconds(const AccessPlan& plan);

/// Returns the number of requests that the rank with the largest part makes to the store.
std::int64_t requests(const AccessPlan& plan, Strategy strategy);
/// Returns the time to copy an element between windows and the local array of the rank with the largest part.
double copy_seconds_per_element(const AccessPlan& plan, const CostModel& costs);
/// Returns a rank that owns as many elements as any other.
std::int64_t largest_rank(const Layout& layout);

/// True if the access reads from a disk.
bool reads_from_disk(const AccessPlan& plan);
/// True if ranks that write at the same time wait for each other, because systems lock a file during each write.
bool writes_queue(const AccessPlan& plan);
/// Returns the number of writers, at most the plan's, with the shortest predicted time.
std::int64_t best_writers(const AccessPlan& plan);

}  // namespace plait::plan
