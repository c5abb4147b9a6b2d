/// Plans of a file's accesses, kept for the next ones: programs repeat their accesses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/function_ref.hpp"
#include "core/file/selected_array.hpp"

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
};

/// Who carries an access out: the ranks of a communicator, or threads of a process that is alone.
struct Workers {
  int number = 1;
  bool threads = false;      ///< which share what one rank may use
  bool nodes_apart = false;  ///< of ranks
  std::shared_ptr<const plan::Nodes> nodes = nullptr;
};

plan::AccessPlan make_plan(const SelectedArray& array, const AccessRequest& request, const Workers& workers);

/// A plan and what it was made for.
struct PlannedAccess {
  SelectedArray array;
  Layout layout;
  Region region;
  Action action;
  int workers;
  plan::AccessPlan plan;
  std::string call;  ///< in words, to agree on
};

/// threads  One at a time.
class AccessPlans {
 public:
  /// One of the last plans where it serves again, or a new one, for which `words` spells the call.
  const PlannedAccess& plan(const SelectedArray& array, const AccessRequest& request, const Workers& workers,
                            base::FunctionRef<std::string()> words);

 private:
  static constexpr std::size_t kKept = 8;
  std::vector<std::unique_ptr<PlannedAccess>> plans_;  // the last used first
};

}  // namespace plait::core
