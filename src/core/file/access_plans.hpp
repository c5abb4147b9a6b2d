/// Plans of a file's accesses, kept for the next ones: programs repeat their accesses.
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

/// What an access does: reads, reads and fills the halos as well, or writes.
enum class Action : std::uint8_t { kRead, kFill, kWrite };

/// What a call asks for.
struct AccessRequest {
  const Layout& layout;
  const Region& region;
  Action action;
  const std::vector<MutablePart>& parts;  ///< local arrays of this process
  bool writes() const { return action == Action::kWrite; }
  /// Describes the call.  array: a clause about the array, or nothing.
  std::string describe(const std::string& array) const;
};

/// Who carries an access out: the ranks of a communicator, or threads of a process that is alone.
struct Workers {
  int number = 1;
  bool threads = false;      ///< which share what one rank may use
  bool nodes_apart = false;  ///< of ranks
  std::shared_ptr<const plan::Nodes> nodes = nullptr;
};

plan::AccessPlan make_plan(const SelectedArray& array, const AccessRequest& request, const Workers& workers);

/// A plan, what it was made for, and which strategy has been the faster one.
class PlannedAccess {
 public:
  /// words  Spells the call.
  PlannedAccess(const SelectedArray& array, const AccessRequest& request, const Workers& workers, std::string words);

  bool serves(const SelectedArray& array, const AccessRequest& request, const Workers& workers) const;
  /// Makes the plan of the next access where it is not there yet.
  void prepare(const AccessRequest& request, const Workers& workers);
  /// That plan, and the call in words, to agree on.
  const plan::AccessPlan& next() const { return *ways_[next_].plan; }
  const std::string& call() const { return ways_[next_].call; }
  /// What the access by next() took, the same on all ranks.
  void learn(double seconds);
  /// What each way took, in a line for people; none where only the model was asked.
  std::string explain() const;

 private:
  /// One way of the access.
  struct Way {
    plan::Strategy strategy;
    std::int64_t readers;                  // 0: as the planner says
    bool each_node;                        // reads for itself
    std::optional<plan::AccessPlan> plan;  // once it is wanted
    std::string call;
    std::string words() const;
  };

  SelectedArray array_;
  Layout layout_;
  Region region_;
  Action action_;
  int workers_;
  Extents strides_;                             // of local arrays, in bytes
  std::vector<Way> ways_;                       // the model's first
  std::optional<plan::StrategyChoice> choice_;  // where the caller leaves it to Plait
  std::size_t next_ = 0;                        // of the ways, with a plan
};

/// threads  One at a time.
class AccessPlans {
 public:
  /// One of the last plans where it serves again, or a new one, for which `words` spells the call.
  PlannedAccess& plan(const SelectedArray& array, const AccessRequest& request, const Workers& workers,
                      base::FunctionRef<std::string()> words);
  /// The kept one; nullptr where there is none.
  const PlannedAccess* kept(const SelectedArray& array, const AccessRequest& request, const Workers& workers) const;
  /// Forgets all plans once collectives have failed that had not before: not all ranks made the same calls, and so they
  /// may remember different things.
  void forget_after(std::int64_t failures);
  /// Whether none has failed since.
  bool is_valid_after(std::int64_t failures) const { return failures == failures_; }

 private:
  /// Which of the kept ones serves; their number where none does.
  std::ptrdiff_t index_of(const SelectedArray& array, const AccessRequest& request, const Workers& workers) const;

  static constexpr std::size_t kKept = 8;
  std::vector<std::unique_ptr<PlannedAccess>> plans_;  // the last used first
  std::int64_t failures_ = 0;
};

}  // namespace plait::core
