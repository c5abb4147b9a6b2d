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
  return workers.threads && !request.parts.empty() ? request.parts.front().strides : Extents();
}

}  // namespace

std::string AccessRequest::describe(const std::string& array) const {
  const char* const name = action == Action::kWrite ? "write" : action == Action::kFill ? "read with halos" : "read";
  return base::text(name, '(', to_string(layout), ", region ", to_string(region), array, ')');
}

std::shared_ptr<const plan::AccessPlan> make_plan(const SelectedArray& array, const AccessRequest& request,
                                                  const Workers& workers) {
  plan::AccessOptions options = array.options;
  if (workers.threads) {
    options.memory_bytes = (options.memory_bytes == 0 ? plan::kDefaultMemory : options.memory_bytes) / workers.number;
    options.readers = std::min<std::int64_t>(options.readers, workers.number);
  }
  options.fill_halo = request.action == Action::kFill;
  return find_or_make_plan(array.section(request.region), request.layout,
                           {array.type.element_bytes, array.data_offset, workers.number, workers.nodes_apart,
                            request.writes(), workers.nodes, workers.threads, request_strides(request, workers)},
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
  std::shared_ptr<const plan::AccessPlan> modelled = make_plan(array, request, workers);
  const plan::Strategy strategy = modelled->strategy();
  const bool each_node = modelled->each_node();
  ways_.push_back({strategy, 0, each_node, std::move(modelled), std::move(description)});
}

void PlannedAccess::add_alternatives(const AccessRequest& request, const Workers& workers) {
  using plan::Strategy;
  const plan::AccessPlan& modelled = *ways_.front().plan;
  const Strategy preferred = modelled.strategy();
  const bool each_node = modelled.each_node();
  std::vector<StrategyPlan> others;
  std::vector<double> predicted{plan::predicted_seconds(modelled, preferred)};
  const auto add = [&](StrategyPlan way, double seconds) {
    predicted.push_back(seconds);
    others.push_back(std::move(way));
  };
  if (preferred != Strategy::kDirect)
    add({Strategy::kDirect, 0, false, {}, {}}, plan::predicted_seconds(modelled, Strategy::kDirect));
  if (preferred == Strategy::kDirect || each_node)
    add({Strategy::kTwoPhase, 0, false, {}, {}}, plan::predicted_seconds_by(modelled, modelled.max_readers()));
  if (!each_node && plan::can_read_in_each_node(modelled))
    add({Strategy::kTwoPhase, 0, true, {}, {}}, plan::predicted_seconds_in_each_node(modelled));
  std::int64_t before = 0;
  for (const std::int64_t readers : {std::int64_t{1}, std::int64_t{workers.number / 2}, modelled.max_readers()}) {
    const bool another = readers < modelled.readers() || (request.writes() && readers > modelled.readers());
    if (array_.options.readers != 0 || workers.threads || !another) continue;
    if (readers <= before || readers > modelled.max_readers()) continue;
    before = readers;
    add({Strategy::kTwoPhase, readers, false, {}, {}}, plan::predicted_seconds_by(modelled, readers));
  }
  for (StrategyPlan& way : others) ways_.push_back(std::move(way));
  choice_.emplace(predicted);
  if (first_seconds_) choice_->learn(*first_seconds_);
}

std::string PlannedAccess::StrategyPlan::describe() const {
  const char* const where = each_node ? " in each node" : "";
  return readers == 0 ? base::text(plan::to_string(strategy), where)
                      : base::text(plan::to_string(strategy), " by ", readers);
}

void PlannedAccess::prepare(const AccessRequest& request, const Workers& workers) {
  // Most accesses are made once, and predicting the times of alternatives costs as much as a small access.
  if (is_used_ && !choice_ && plan::has_alternatives(*ways_.front().plan)) add_alternatives(request, workers);
  is_used_ = true;
  const std::size_t chosen_way = choice_ ? choice_->next() : 0;
  StrategyPlan& way = ways_[chosen_way];
  if (!way.plan) {
    SelectedArray forced = array_;
    forced.options.strategy = way.strategy;
    if (way.readers != 0) forced.options.readers = way.readers;
    forced.options.each_node = way.each_node;
    forced.options.as_measured = true;
    // Ranks with different choices would wait for each other forever, so the strategy is part of the text that they
    // compare.
    way.call = base::text(ways_.front().call, ", ", way.describe());
    way.plan = make_plan(forced, request, workers);
  }
  next_ = chosen_way;
}

bool PlannedAccess::serves(const SelectedArray& array, const AccessRequest& request, const Workers& workers) const {
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
  for (std::size_t way = 0; choice_ && way < ways_.size(); ++way)
    if (choice_->measured(way))
      text += base::text(text.empty() ? "measured   " : ", ", ways_[way].describe(), ' ',
                         base::time_text(choice_->seconds(way)));
  return text.empty() ? text : text + '\n';
}

std::ptrdiff_t AccessPlans::find_plan(const SelectedArray& array, const AccessRequest& request,
                                      const Workers& workers) const {
  const auto found =
      std::find_if(plans_.begin(), plans_.end(), [&](const auto& old) { return old->serves(array, request, workers); });
  return found - plans_.begin();
}

PlannedAccess& AccessPlans::plan(const SelectedArray& array, const AccessRequest& request, const Workers& workers,
                                 base::FunctionRef<std::string()> describe) {
  auto found = plans_.begin() + find_plan(array, request, workers);
  if (found == plans_.end()) {
    if (plans_.size() == kMaxCached) plans_.pop_back();
    found = plans_.insert(plans_.end(), std::make_unique<PlannedAccess>(array, request, workers, describe()));
  }
  std::rotate(plans_.begin(), found, found + 1);
  plans_.front()->prepare(request, workers);
  return *plans_.front();
}

const PlannedAccess* AccessPlans::cached(const SelectedArray& array, const AccessRequest& request,
                                         const Workers& workers) const {
  const auto found = plans_.begin() + find_plan(array, request, workers);
  return found == plans_.end() ? nullptr : found->get();
}

void AccessPlans::discard_after(std::int64_t failures) {
  if (failures != failures_) plans_.clear();
  failures_ = failures;
}

}  // namespace plait::core
