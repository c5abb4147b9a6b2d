/// Plans direct accesses to elements that are contiguous in the file but scattered in a rank's memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/access/file_requests.hpp"
#include "plan/conversion/runs.hpp"

namespace plait::plan {

/// Splits a nest of loops into rows that are contiguous in the file.  Several rows at a time are moved through a
/// buffer.
///
/// A request that lists each run in memory costs the kernel about 20 ns per run.  If runs are short, it is faster to
/// move whole rows between the file and a buffer, and to copy tiles between the buffer and the array.
///
/// Example: 2048 rows of 4096 elements of 2 bytes are read into a transposed array.  Each row is 8 KiB in the file and
/// 4096 runs of 2 bytes in memory, which makes 8 million runs in total and takes 160 ms.  A buffer of 1 MiB holds 128
/// rows, so that 16 requests and 16 copies of 128x4096 elements suffice, which take 10 ms.
struct ScatteredRows {
  std::int64_t row_bytes = 0;
  std::vector<NestLoop> row;      ///< the loops within a row
  NestLoop rows;                  ///< the loop over rows
  std::int64_t rows_at_once = 1;  ///< rows that fit into the buffer
  Nest rest;                      ///< the loops around `rows`

  std::int64_t buffer_bytes() const { return rows_at_once * row_bytes; }
  bool are_contiguous() const { return rows.a_stride == row_bytes; }

  /// Calls `visit(offset in the file, position in the array, number of rows)` for each block of rows in the buffer.
  template <typename Visit>
  void for_each_block(Visit&& visit) const {
    Nest outer = rest;
    for_each_iteration(outer, [&](std::int64_t file, std::int64_t array) {
      for (std::int64_t first = 0; first < rows.count; first += rows_at_once)
        visit(file + first * rows.a_stride, array + first * rows.b_stride, std::min(rows_at_once, rows.count - first));
    });
  }
  /// Calls `visit(offset in the file, offset in the buffer, bytes)` for each contiguous part of a block in the file.
  template <typename Visit>
  void for_each_stretch(std::int64_t file, std::int64_t count, Visit&& visit) const {
    if (are_contiguous()) return visit(file, 0, count * row_bytes);
    for (std::int64_t i = 0; i < count; ++i) visit(file + i * rows.a_stride, i * row_bytes, row_bytes);
  }
};

/// Finds the rows of a nest, whose side a is the file and side b the array, both in bytes.  Returns nothing if its runs
/// are long, or if a row is a single run and rows are not contiguous in the file.
std::optional<ScatteredRows> find_scattered_rows(const Nest& nest, const AccessPlan& plan);

}  // namespace plait::plan
