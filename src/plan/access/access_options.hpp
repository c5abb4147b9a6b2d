/// The arguments of the plan of an access (access_plan.hpp): the options that the caller chooses, and the array and
/// workers of the access.  *Readers* are the workers that access the store, also in an access that writes.
#pragma once

#include <cstdint>
#include <memory>

#include "plait/layout.hpp"
#include "plan/access/costs.hpp"
#include "plan/access/readers.hpp"
#include "plan/access/storage_unit.hpp"

namespace plait::plan {

enum class Strategy : std::uint8_t {
  kAutomatic,  ///< whichever of the other two the cost model predicts to be faster
  kDirect,     ///< each rank reads or writes its own runs
  /// Each reader has a share of the file and transfers it window by window; ranks copy between windows and their
  /// arrays.
  kTwoPhase,
};

/// The largest value, for encoders.
constexpr Strategy last_value(Strategy /*any*/) { return Strategy::kTwoPhase; }

constexpr const char* to_string(Strategy strategy) {
  switch (strategy) {
    case Strategy::kDirect: return "direct";
    case Strategy::kTwoPhase: return "two-phase";
    case Strategy::kAutomatic: break;
  }
  return "automatic";
}

/// The choices of the caller; zeros leave them to the planner.
struct AccessOptions {
  Strategy strategy = Strategy::kAutomatic;
  std::int64_t memory_bytes = 0;  ///< limit of a rank's staging memory; 0: kDefaultMemory
  std::int64_t readers = 0;       ///< number of workers that access the store; 0: the best number
  bool fill_halo = false;         ///< reading: the halos of local arrays are filled as well
  /// Shares begin at multiples of this many bytes in the file, so that no two readers access the same page or disk
  /// block.
  std::int64_t storage_unit = kStorageUnit;
  std::shared_ptr<const CostModel> costs = nullptr;  ///< machine constants; null: built-in values
  /// Minimum size of windows, if the memory suffices, for stores whose requests take long; 0: the window size of files.
  std::int64_t window_bytes = 0;
  bool cold = false;  ///< the file was not in the page cache when it was opened
  /// Two-phase reading: each node reads everything that its ranks need, so that nodes exchange no messages.
  bool each_node = false;
  /// `strategy` was not chosen by the user, but by StrategyChoice from the times of earlier accesses.
  bool as_measured = false;
  bool operator==(const AccessOptions&) const = default;
};

/// Which array is accessed, and by which workers.
struct AccessTask {
  std::int64_t element_bytes = 1;
  std::int64_t data_offset = 0;  ///< offset of the array in the file
  std::int64_t workers = 1;      ///< processes or threads that hold the layout's ranks
  bool nodes_apart = false;      ///< some workers do not share memory, so that messages need staging as well
  bool write = false;
  std::shared_ptr<const Nodes> nodes = nullptr;  ///< nodes of the workers, if there are several
  bool threads = false;                          ///< workers are threads, several of which may write one shard
  Extents strides{};                             ///< of the local arrays, in bytes; empty: dense
  bool operator==(const AccessTask&) const = default;
};

}  // namespace plait::plan
