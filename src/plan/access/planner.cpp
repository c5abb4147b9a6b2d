// The choice of a plan.
//
// The planner makes the two-phase plan with the maximum useful number of readers and compares it with the alternatives
// by their predicted times: fewer writers, if the operating system serializes writers of one file; direct access; and
// reading in each node, if ranks are on several nodes.  Some rules precede the prediction, because the model has no
// terms for disks and for repeated reads of copies: see choose_strategy().
//
// Example: 4 ranks of one node read 8 MB of doubles.  In rows, `1000x1000 (block, *) onto (4)`, each rank needs one
// request of 2 MB, and direct access is faster.  In `1000x1000 (cyclic, cyclic) onto (2, 2)` each rank would need
// 250,000 requests of 8 bytes; two-phase access needs 2 windows of 1 MiB from each of 4 readers.

#include "plan/access/planner.hpp"

#include <utility>

#include "base/errors.hpp"
#include "plan/access/prediction.hpp"

namespace plait::plan {

namespace {

/// True if ranks hold copies of elements.  These are read once and sent to the ranks, even if the page cache would make
/// repeated reads fast.
bool reads_copies(const AccessPlan& plan) {
  return !plan.task().write && plan.task().workers > 1 && plan.layout().replicas() > 1;
}

Strategy choose_strategy(const AccessPlan& plan) {
  const Strategy strategy = plan.options().strategy;
  if (plan.section().chunks) {
    if (strategy == Strategy::kDirect)
      base::throw_argument_error(
          "strategy \"direct\" was asked for, but the array lies in chunks, each of which one rank reads or writes "
          "as a whole; use \"two-phase\" or \"automatic\"");
    return Strategy::kTwoPhase;
  }
  if (strategy != Strategy::kAutomatic) return strategy;
  if (reads_copies(plan) || reads_from_disk(plan)) return Strategy::kTwoPhase;
  return predicted_seconds(plan, Strategy::kDirect) <= predicted_seconds(plan, Strategy::kTwoPhase)
             ? Strategy::kDirect
             : Strategy::kTwoPhase;
}

}  // namespace

bool has_alternatives(const AccessPlan& plan) {
  return plan.options().strategy == Strategy::kAutomatic && !plan.section().chunks && !reads_copies(plan);
}

bool can_read_in_each_node(const AccessPlan& plan) {
  const AccessTask& task = plan.task();
  return task.nodes_apart && !task.write && task.nodes && plan.options().readers == 0 && !plan.section().chunks;
}

AccessPlan plan_access(Section section, Layout layout, const AccessTask& task, const AccessOptions& options) {
  AccessPlan plan(std::move(section), std::move(layout), task, options);
  if (options.readers == 0 && writes_queue(plan)) {
    const std::int64_t writers = best_writers(plan);
    if (writers < plan.readers()) plan.divide(writers);
  }
  if (options.each_node && can_read_in_each_node(plan)) plan.read_in_each_node();
  plan.set_strategy(choose_strategy(plan));
  if (!has_alternatives(plan) || !can_read_in_each_node(plan)) return plan;
  const double seconds =
      plan.strategy() == Strategy::kDirect ? direct_seconds(plan) : predicted_seconds(plan, Strategy::kTwoPhase);
  if (predicted_seconds_in_each_node(plan) < seconds) {
    plan.set_strategy(Strategy::kTwoPhase);
    plan.read_in_each_node();
  }
  return plan;
}

}  // namespace plait::plan
