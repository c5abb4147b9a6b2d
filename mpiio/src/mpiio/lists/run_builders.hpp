/// Makes trees of runs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpiio/lists/runs.hpp"

namespace plait::mpiio {

/// Calculates offsets and numbers of bytes.
/// errors  std::overflow_error: past 2^62, so that sums of two offsets do not overflow.
std::int64_t checked_sum(std::int64_t a, std::int64_t b);
std::int64_t checked_product(std::int64_t a, std::int64_t b);

/// True for a list of one run.
bool is_one_run(const RunNode& node);
/// Returns one run of so many bytes at 0; an empty list for no bytes.
Runs make_run(std::int64_t bytes);
/// Repeats runs at a distance of so many bytes; nullptr if the runs are unknown.
/// errors  std::overflow_error: the runs end past 2^62 bytes.
Runs repeat_checked(const Runs& runs, std::int64_t count, std::int64_t stride);
/// Moves runs by so many bytes; nullptr if the runs are unknown.
/// errors  std::overflow_error: the runs end past 2^62 bytes.
Runs shift_runs(const Runs& runs, std::int64_t offset);

/// Joins runs to a list, and merges runs that adjoin.
class ListBuilder {
 public:
  explicit ListBuilder(std::size_t capacity);
  void add(std::int64_t offset, std::int64_t bytes);
  /// Adds the runs of a list, moved by `offset`.
  void add(std::int64_t offset, const RunNode& list);
  Runs finish();

 private:
  RunNode node_;
};

/// Joins children at offsets. Lists become one list if it is not much longer.
class GroupBuilder {
 public:
  void add(std::int64_t offset, const Runs& child);
  /// Returns nullptr if a child is unknown.
  Runs finish();

 private:
  Runs join_lists() const;

  RunNode node_;
  bool is_known_ = true;
  bool is_list_ = true;
};

}  // namespace plait::mpiio
