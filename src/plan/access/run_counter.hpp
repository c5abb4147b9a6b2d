/// Counts the contiguous runs in a rank's part of an access, from which the planner predicts times.
#pragma once

#include <cstdint>

#include "plan/access/access_plan.hpp"
#include "plan/conversion/spans.hpp"

namespace plait::plan {

/// Runs of this many bytes cost no more as segments of a direct request than as parts of a copy from a buffer.
inline constexpr std::int64_t kLongRun = 256;

/// The numbers of requests and runs of a rank's direct access.  If they differ, the access moves rows through a buffer.
struct DirectRuns {
  std::int64_t requests = 0;
  std::int64_t runs = 0;
};

/// The runs that one read covers together with the gaps between them (data sieving).
struct Cover {
  std::int64_t elements = 1;       ///< elements of all its runs
  std::int64_t file_elements = 1;  ///< from the beginning of the first run to the end of the last one

  /// Returns how many bytes are read for each byte of the section.
  double reading_factor() const { return static_cast<double>(file_elements) / static_cast<double>(elements); }
};

/// Returns the runs that most reads of an access cover: several if the access reads across gaps, otherwise a single
/// run.
///
/// Example: the middle (32, 40, 51) of 65x81x101 elements of 2 bytes.  The rows of a plane are 50 elements apart, so
/// that one read covers all 40 of them; the planes are 4,151 elements apart, more than kSieveGap.
Cover usual_cover(const AccessPlan& plan);

/// Counts runs for each product of pieces, without listing them.
/// cost  Independent of the number of elements.
class RunCounter {
 public:
  RunCounter(const AccessPlan& plan, std::int64_t rank);

  DirectRuns direct() const;
  /// Returns the number of runs that are contiguous both in a window and in the local array.
  std::int64_t in_window() const;

 private:
  /// Returns the number of runs that are contiguous in two arrays, whose strides are in bytes.
  std::int64_t count(const Extents& a_strides, const Extents& b_strides) const;

  const AccessPlan& plan_;
  std::int64_t rank_;
  std::vector<RankElements> holdings_;
  Extents file_strides_;
  Extents dense_strides_;  ///< strides of a dense array of the section's shape
  Extents array_strides_;
};

}  // namespace plait::plan
