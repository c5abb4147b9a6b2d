// Plans of recent small accesses.
//
// Problem: programs open many small files, read or write each of them once, and close them. A plan takes 15 us and
// more, several times as long as the access.
//
// Idea: plan_access() is deterministic, and a plan never changes. So a plan that was made for one file is valid for an
// access to another one if all arguments are equal. Some ranks may find a plan while others make it anew: the results
// are equal.
//
// Example: a loop that reads `step-1.npy` to `step-9.npy`, each of 16x16 doubles, in rows on 2 ranks. The first read
// makes the plan, and the others find it.

#include "core/file/small/recent_plans.hpp"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "base/process.hpp"
#include "plan/access/planner.hpp"

namespace plait::core {

namespace {

/// Limits of the accesses whose plans are cached: larger ones take longer than their plans.
constexpr std::int64_t kMaxPlannedElements = std::int64_t{1} << 20;
constexpr std::int64_t kMaxPlannedRanks = 64;

/// The arguments of plan_access().
struct PlanArguments {
  const plan::Section& section;
  const Layout& layout;
  const plan::AccessTask& task;
  const plan::AccessOptions& options;

  bool are_small() const {
    return !section.chunks && section.elements <= kMaxPlannedElements && layout.size() <= kMaxPlannedRanks;
  }
};

/// True if two sections without chunks are equal.
bool is_same_section(const plan::Section& first, const plan::Section& second) {
  return first.origin == second.origin && first.shape == second.shape && first.strides == second.strides &&
         first.layout_dimension == second.layout_dimension && first.layout_shape == second.layout_shape;
}

class RecentPlans {
 public:
  RecentPlans() { plans_.reserve(kMaxRecent); }

  std::shared_ptr<const plan::AccessPlan> find(const PlanArguments& arguments) {
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find_if(plans_, [&](const Recent& recent) {
      return recent.task == arguments.task && recent.options == arguments.options &&
             is_same_section(recent.plan->section(), arguments.section) &&
             recent.plan->layout().spelled_like(arguments.layout);
    });
    return found == plans_.end() ? nullptr : found->plan;
  }

  /// Adds a plan, which replaces the oldest one if there are kMaxRecent.
  void add(const PlanArguments& arguments, std::shared_ptr<const plan::AccessPlan> plan) {
    Recent recent{arguments.task, arguments.options, std::move(plan)};
    const std::scoped_lock lock(mutex_);
    if (plans_.size() < kMaxRecent)
      plans_.push_back(std::move(recent));
    else
      plans_[oldest_++ % kMaxRecent] = std::move(recent);
  }

 private:
  struct Recent {
    plan::AccessTask task;
    plan::AccessOptions options;
    std::shared_ptr<const plan::AccessPlan> plan;
  };

  static constexpr std::size_t kMaxRecent = 16;
  std::mutex mutex_;
  std::vector<Recent> plans_;
  std::size_t oldest_ = 0;
};

RecentPlans& recent_plans() {
  static base::PerProcess<RecentPlans> instance;
  return instance.get();
}

}  // namespace

std::shared_ptr<const plan::AccessPlan> find_or_make_plan(plan::Section section, const Layout& layout,
                                                          const plan::AccessTask& task,
                                                          const plan::AccessOptions& options) {
  const PlanArguments arguments{section, layout, task, options};
  const bool is_small = arguments.are_small();
  if (is_small)
    if (auto plan = recent_plans().find(arguments)) return plan;
  auto plan = std::make_shared<const plan::AccessPlan>(
      plan::plan_access(is_small ? section : std::move(section), layout, task, options));
  if (is_small) recent_plans().add(arguments, plan);
  return plan;
}

}  // namespace plait::core
