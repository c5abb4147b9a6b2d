#include "core/file/access_plans.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace plait::core {

plan::AccessPlan make_plan(const SelectedArray& array, const AccessRequest& request, const Workers& workers) {
  plan::AccessOptions options = array.options;
  if (workers.threads) {
    options.memory_bytes = (options.memory_bytes == 0 ? plan::kDefaultMemory : options.memory_bytes) / workers.number;
    options.readers = std::min<std::int64_t>(options.readers, workers.number);
  }
  options.fill_halo = request.action == Action::kFill;
  return {array.section(request.region),
          request.layout,
          {array.type.element_bytes, array.data_offset, workers.number, workers.nodes_apart, request.writes(),
           workers.nodes, workers.threads},
          options};
}

namespace {

plan::Strategy other_of(plan::Strategy strategy) {
  return strategy == plan::Strategy::kDirect ? plan::Strategy::kTwoPhase : plan::Strategy::kDirect;
}

}  // namespace

PlannedAccess::PlannedAccess(const SelectedArray& array, const AccessRequest& request, const Workers& workers,
                             std::string words)
    : array_(array),
      layout_(request.layout),
      region_(request.region),
      action_(request.action),
      workers_(workers.number),
      plan_(make_plan(array, request, workers)),
      call_(std::move(words)) {
  if (!plan_.is_open()) return;
  const plan::Strategy mine = plan_.strategy();
  choice_.emplace(mine, plan_.predicted_seconds(mine), plan_.predicted_seconds(other_of(mine)));
}

void PlannedAccess::prepare(const AccessRequest& request, const Workers& workers) {
  if (!takes_other() || other_) return;
  SelectedArray forced = array_;
  forced.options.strategy = other_of(plan_.strategy());
  forced.options.as_measured = true;
  // Ranks that chose differently would wait for each other for ever; so they would be told that their calls differ.
  other_call_ = base::text(call_, ", ", plan::to_string(forced.options.strategy));
  other_.emplace(make_plan(forced, request, workers));
}

bool PlannedAccess::serves(const SelectedArray& array, const AccessRequest& request, const Workers& workers) const {
  return action_ == request.action && workers_ == workers.number && array_.data_offset == array.data_offset &&
         array_.type.element_bytes == array.type.element_bytes &&
         array_.options.memory_bytes == array.options.memory_bytes && array_.type.order == array.type.order &&
         array_.type.shape == array.type.shape && region_ == request.region && layout_.spelled_like(request.layout);
}

bool PlannedAccess::takes_other() const { return choice_ && choice_->next() != plan_.strategy(); }

const plan::AccessPlan& PlannedAccess::next() const { return takes_other() && other_ ? *other_ : plan_; }

const std::string& PlannedAccess::call() const { return takes_other() && other_ ? other_call_ : call_; }

void PlannedAccess::learn(double seconds) {
  if (choice_) choice_->learn(seconds);
}

std::string PlannedAccess::explain() const {
  if (!choice_ || !choice_->measured()) return {};
  const plan::Strategy taken = choice_->next();
  const plan::Strategy other = other_of(taken);
  return base::text("measured   ", plan::to_string(taken), " took ", base::time_text(choice_->seconds(taken)), ", ",
                    plan::to_string(other), ' ', base::time_text(choice_->seconds(other)), '\n');
}

PlannedAccess& AccessPlans::plan(const SelectedArray& array, const AccessRequest& request, const Workers& workers,
                                 base::FunctionRef<std::string()> words) {
  auto found =
      std::find_if(plans_.begin(), plans_.end(), [&](const auto& old) { return old->serves(array, request, workers); });
  if (found == plans_.end()) {
    if (plans_.size() == kKept) plans_.pop_back();
    found = plans_.insert(plans_.end(), std::make_unique<PlannedAccess>(array, request, workers, words()));
  }
  std::rotate(plans_.begin(), found, found + 1);
  plans_.front()->prepare(request, workers);
  return *plans_.front();
}

const PlannedAccess* AccessPlans::kept(const SelectedArray& array, const AccessRequest& request,
                                       const Workers& workers) const {
  const auto found =
      std::find_if(plans_.begin(), plans_.end(), [&](const auto& old) { return old->serves(array, request, workers); });
  return found == plans_.end() ? nullptr : found->get();
}

void AccessPlans::forget_after(std::int64_t failures) {
  if (failures != failures_) plans_.clear();
  failures_ = failures;
}

}  // namespace plait::core
