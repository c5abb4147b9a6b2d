/// Contiguous runs of a rank's part of an access.
#pragma once

#include <cstdint>

#include "plan/access/access.hpp"

namespace plait::plan {

/// What a direct access of a rank consists of.  If there are fewer requests than runs, it moves rows by a buffer.
struct DirectRuns {
  std::int64_t requests = 0;
  std::int64_t runs = 0;
};

/// Counts runs by products of pieces.
/// cost  Independent of the number of elements.
class RunCounter {
 public:
  RunCounter(const AccessPlan& plan, std::int64_t rank);

  DirectRuns direct() const;
  /// Runs that are contiguous in a window and in the local array.
  std::int64_t in_window() const;

 private:
  /// Runs between two arrays, whose steps are in bytes.
  std::int64_t count(const Extents& a_steps, const Extents& b_steps) const;

  const AccessPlan& plan_;
  std::int64_t rank_;
  std::vector<Holding> holdings_;
  Extents file_steps_;
  Extents dense_steps_;  ///< of the section
  Extents array_steps_;
};

}  // namespace plait::plan
