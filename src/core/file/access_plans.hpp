/// Plans of a file's accesses, cached because programs repeat their accesses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/function_ref.hpp"
#include "core/file/selected_array.hpp"
#include "plan/access/strategy_choice.hpp"

namespace plait::core {

/// The operation of an access: a read, a read that also fills the halos, or a write.
enum class Action : std::uint8_t { kRead, kFill, kWrite };

/// The arguments of a call that reads or writes.
struct AccessRequest {
  const Layout& layout;
  const Region& region;
  Action action;
  const std::vector<MutablePart>& parts;  ///< local arrays of this process
  bool writes() const { return action == Action::kWrite; }
  /// Describes the call in a text, which ranks compare.  array: a clause about the array, or nothing.
  std::string describe(const std::string& array) const;
};

/// The workers of an access: the ranks of a communicator, or the threads of a process that is alone.
struct Workers {
  int number = 1;
  bool are_threads = false;  ///< true for threads, which share the memory of one rank
  bool nodes_apart = false;  ///< true if ranks are on several nodes
  std::shared_ptr<const plan::Nodes> nodes = nullptr;
};

/// Plans an access, or returns the plan of an equal recent one.  errors  Those of plan::plan_access().
std::shared_ptr<const plan::AccessPlan> make_plan(const SelectedArray& array, const AccessRequest& request,
                                                  const Workers& workers);

/// A plan with the arguments that it was made for, its alternatives, and their measured times.
class PlannedAccess {
 public:
  /// description: The description of the call.
  PlannedAccess(const SelectedArray& array, const AccessRequest& request, const Workers& workers,
                std::string description);

  /// Returns true if the plans fit an access with these arguments.
  bool matches(const SelectedArray& array, const AccessRequest& request, const Workers& workers) const;
  /// Makes the plan of the next access if it does not exist yet.
  void prepare(const AccessRequest& request, const Workers& workers);
  /// Return the plan of the next access, and the description of the call, which all ranks compare.
  const plan::AccessPlan& next() const { return *strategies_[next_strategy_].plan; }
  const std::string& description() const { return strategies_[next_strategy_].description; }
  /// Records the time of the access by next(), which is the same on all ranks.
  void learn(double seconds);
  /// Returns the times of the strategies in a line for people; empty if none was measured.
  std::string explain() const;

 private:
  /// One strategy for the access.
  struct StrategyPlan {
    plan::Strategy strategy;
    std::int64_t readers;                          // 0: chosen by the planner
    bool each_node;                                // each node reads for its ranks
    std::shared_ptr<const plan::AccessPlan> plan;  // made when first used
    std::string description;                       // of the call with this strategy
    std::string describe() const;
  };

  /// Adds the strategies that may be faster than the preferred one, with their predicted times.
  void add_alternatives(const AccessRequest& request, const Workers& workers);

  SelectedArray array_;
  Layout layout_;
  Region region_;
  Action action_;
  int workers_;                                 // number of workers
  Extents strides_;                             // strides of local arrays, in bytes
  std::vector<StrategyPlan> strategies_;        // the model's choice first
  std::optional<plan::StrategyChoice> choice_;  // from the second access on, if the caller leaves the strategy to Plait
  std::optional<double> first_seconds_;         // time of the first access, before choice_ exists
  bool is_used_ = false;
  std::size_t next_strategy_ = 0;  // index in strategies_; its plan exists
};

/// The plans of a file's recent accesses.
/// threads  One at a time.
class AccessPlans {
 public:
  /// Returns a cached plan that fits, or makes a new one. describe: returns the description of the call.
  PlannedAccess& plan(const SelectedArray& array, const AccessRequest& request, const Workers& workers,
                      base::FunctionRef<std::string()> describe);
  /// Returns the cached plan that fits, or nullptr.
  const PlannedAccess* find_cached(const SelectedArray& array, const AccessRequest& request,
                                   const Workers& workers) const;
  /// Discards all plans after new failures of collectives: the ranks have not made the same calls, so their caches may
  /// differ.
  void discard_after(std::int64_t failures);
  /// Returns true if no collective has failed since the plans were made. failures: the present number of failures.
  bool is_valid_after(std::int64_t failures) const { return failures == failures_; }

 private:
  /// Returns the index of the cached plan that fits, or the number of plans.
  std::ptrdiff_t find_plan(const SelectedArray& array, const AccessRequest& request, const Workers& workers) const;

  static constexpr std::size_t kMaxCached = 8;
  std::vector<std::unique_ptr<PlannedAccess>> plans_;  // most recently used first
  std::int64_t failures_ = 0;
};

}  // namespace plait::core
