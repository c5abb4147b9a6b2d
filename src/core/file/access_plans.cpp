// Plans of accesses, cached for repeated calls.
//
// Programs repeat their accesses, and a plan costs more than a small access. A PlannedAccess holds the plan that the
// cost model prefers and, if the strategy is left to Plait, from the second access on the alternatives: direct access,
// two-phase access with other numbers of readers, and reading in each node. Their plans are made when they are first
// used. StrategyChoice chooses among them by measured times.
//
// Example: a read on 8 ranks of one node for which the model prefers two-phase access with all 8 readers. The
// alternatives are direct access, and two-phase access with 1 and with 4 readers, each with its predicted time.

#include "core/file/access_plans.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "core/file/small/recent_plans.hpp"
#include "plan/access/planner.hpp"
#include "plan/access/prediction.hpp"

namespace plait::core {

namespace {

/// Returns the strides of local arrays if plans may depend on them: among threads, but not among ranks, which may
/// differ.
Extents request_strides(const AccessRequest& request, const Workers& workers) {
  return workers.are_threads && !request.parts.empty() ? request.parts.front().strides : Extents();
}

}  // namespace

std::string AccessRequest::describe(const std::string& array) const {
  const char* name = "read";
  if (action == Action::kWrite) name = "write";
  if (action == Action::kFill) name = "read with halos";
  return base::text(name, '(', to_string(layout), ", region ", to_string(region), array, ')');
}

std::shared_ptr<const plan::AccessPlan> make_plan(const SelectedArray& array, const AccessRequest& request,
                                                  const Workers& workers) {
  plan::AccessOptions options = array.options;
  if (workers.are_threads) {
    options.memory_bytes = (options.memory_bytes == 0 ? plan::kDefaultMemory : options.memory_bytes) / workers.number;
    options.readers = std::min<std::int64_t>(options.readers, workers.number);
  }
  options.fill_halo = request.action == Action::kFill;
  return find_or_make_plan(array.section(request.region), request.layout,
                           {array.type.element_bytes, array.data_offset, workers.number, workers.nodes_apart,
                            request.writes(), workers.nodes, workers.are_threads, request_strides(request, workers)},
                           options);
}

PlannedAccess::PlannedAccess(const SelectedArray& array, const AccessRequest& request, const Workers& workers,
                             std::string description)
    : array_(array),
      layout_(request.layout),
      region_(request.region),
      action_(request.action),
      workers_(workers.number),
      strides_(request_strides(request, workers)) {
  std::shared_ptr<const plan::AccessPlan> preferred = make_plan(array, request, workers);
  const plan::Strategy strategy = preferred->strategy();
  const bool each_node = preferred->each_node();
  strategies_.push_back({strategy, 0, each_node, std::move(preferred), std::move(description)});
}

void PlannedAccess::add_alternatives(const AccessRequest& request, const Workers& workers) {
  using plan::Strategy;
  const plan::AccessPlan& preferred = *strategies_.front().plan;
  const Strategy strategy = preferred.strategy();
  const bool each_node = preferred.each_node();
  std::vector<StrategyPlan> alternatives;
  std::vector<double> predicted{plan::predicted_seconds(preferred, strategy)};
  const auto add = [&](StrategyPlan alternative, double seconds) {
    predicted.push_back(seconds);
    alternatives.push_back(std::move(alternative));
  };
  if (strategy != Strategy::kDirect)
    add({Strategy::kDirect, 0, /*each_node=*/false, {}, {}}, plan::predicted_seconds(preferred, Strategy::kDirect));
  if (strategy == Strategy::kDirect || each_node)
    add({Strategy::kTwoPhase, 0, /*each_node=*/false, {}, {}},
        plan::predicted_seconds_by(preferred, preferred.max_readers()));
  if (!each_node && plan::can_read_in_each_node(preferred))
    add({Strategy::kTwoPhase, 0, /*each_node=*/true, {}, {}}, plan::predicted_seconds_in_each_node(preferred));
  std::int64_t last_readers = 0;  // the numbers ascend, but may be equal
  for (const std::int64_t readers : {std::int64_t{1}, std::int64_t{workers.number / 2}, preferred.max_readers()}) {
    const bool differs = readers < preferred.readers() || (request.writes() && readers > preferred.readers());
    if (array_.options.readers != 0 || workers.are_threads || !differs) continue;
    if (readers <= last_readers || readers > preferred.max_readers()) continue;
    last_readers = readers;
    add({Strategy::kTwoPhase, readers, /*each_node=*/false, {}, {}}, plan::predicted_seconds_by(preferred, readers));
  }
  for (StrategyPlan& alternative : alternatives) strategies_.push_back(std::move(alternative));
  choice_.emplace(predicted);
  if (first_seconds_) choice_->learn(*first_seconds_);
}

std::string PlannedAccess::StrategyPlan::describe() const {
  const char* const suffix = each_node ? " in each node" : "";
  return readers == 0 ? base::text(plan::to_string(strategy), suffix)
                      : base::text(plan::to_string(strategy), " by ", readers);
}

void PlannedAccess::prepare(const AccessRequest& request, const Workers& workers) {
  // Most accesses are made once, and predicting the times of alternatives costs as much as a small access.
  if (is_used_ && !choice_ && plan::has_alternatives(*strategies_.front().plan)) add_alternatives(request, workers);
  is_used_ = true;
  const std::size_t chosen = choice_ ? choice_->next() : 0;
  StrategyPlan& alternative = strategies_[chosen];
  if (!alternative.plan) {
    SelectedArray alternative_array = array_;
    alternative_array.options.strategy = alternative.strategy;
    if (alternative.readers != 0) alternative_array.options.readers = alternative.readers;
    alternative_array.options.each_node = alternative.each_node;
    alternative_array.options.as_measured = true;
    // Ranks with different choices would wait for each other forever, so the strategy is part of the text that they
    // compare.
    alternative.description = base::text(strategies_.front().description, ", ", alternative.describe());
    alternative.plan = make_plan(alternative_array, request, workers);
  }
  next_strategy_ = chosen;
}

bool PlannedAccess::matches(const SelectedArray& array, const AccessRequest& request, const Workers& workers) const {
  return action_ == request.action && workers_ == workers.number && array_.data_offset == array.data_offset &&
         array_.type.element_bytes == array.type.element_bytes &&
         array_.options.memory_bytes == array.options.memory_bytes && array_.type.order == array.type.order &&
         array_.type.shape == array.type.shape && region_ == request.region &&
         strides_ == request_strides(request, workers) && layout_.spelled_like(request.layout);
}

void PlannedAccess::learn(double seconds) {
  if (choice_)
    choice_->learn(seconds);
  else
    first_seconds_ = seconds;
}

std::string PlannedAccess::explain() const {
  std::string text;
  for (std::size_t i = 0; choice_ && i < strategies_.size(); ++i)
    if (choice_->measured(i))
      text += base::text(text.empty() ? "measured   " : ", ", strategies_[i].describe(), ' ',
                         base::time_text(choice_->seconds(i)));
  return text.empty() ? text : text + '\n';
}

std::ptrdiff_t AccessPlans::find_plan(const SelectedArray& array, const AccessRequest& request,
                                      const Workers& workers) const {
  const auto plan = std::find_if(plans_.begin(), plans_.end(),
                                 [&](const auto& cached) { return cached->matches(array, request, workers); });
  return plan - plans_.begin();
}

PlannedAccess& AccessPlans::plan(const SelectedArray& array, const AccessRequest& request, const Workers& workers,
                                 base::FunctionRef<std::string()> describe) {
  auto plan = plans_.begin() + find_plan(array, request, workers);
  if (plan == plans_.end()) {
    if (plans_.size() == kMaxCached) plans_.pop_back();
    plan = plans_.insert(plans_.end(), std::make_unique<PlannedAccess>(array, request, workers, describe()));
  }
  std::rotate(plans_.begin(), plan, plan + 1);
  plans_.front()->prepare(request, workers);
  return *plans_.front();
}

const PlannedAccess* AccessPlans::find_cached(const SelectedArray& array, const AccessRequest& request,
                                              const Workers& workers) const {
  const auto plan = plans_.begin() + find_plan(array, request, workers);
  return plan == plans_.end() ? nullptr : plan->get();
}

void AccessPlans::discard_after(std::int64_t failures) {
  if (failures != failures_) plans_.clear();
  failures_ = failures;
}

}  // namespace plait::core
