/// Fills a local array row by row, from short runs of other arrays.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "copy/local_array.hpp"
#include "exchange/families.hpp"
#include "exchange/prefetch.hpp"
#include "exchange/row_segments.hpp"
#include "exchange/share.hpp"

namespace plait::exchange {

/// A plan to fill one target that is contiguous in the same dimension as its sources.
///
/// Rows that take the same elements of each source row are assembled by the same *program*: a list of runs in the order
/// of the target, so that no positions are computed for each row. If the target is large, parts of a row without gaps
/// are written by non-temporal stores. Parts that these cannot write in whole cache lines directly are first assembled
/// in a stage, a small buffer that stays in the first-level cache.  If an array has few or long rows, they are divided
/// into units (row_segments.hpp), and each unit counts as a row.
/// threads  Several threads may call run() at once, each for its own rows.
class Rows {
 public:
  /// Makes a plan. Returns nullopt if rows cannot be planned, or tiles (tiles.hpp) are faster: sources and target are
  /// contiguous in different dimensions, there are few rows whose runs do not repeat or leave gaps, runs are
  /// long or shorter than 4 bytes on average, or a position of a slower dimension belongs to shares with different
  /// pieces.
  /// cost    O(runs of a row for each program + positions of the slower dimensions).
  static std::optional<Rows> make(const Extents& target_shape, const DimensionOrder& source_order,
                                  const DimensionOrder& target_order, std::int64_t element_bytes,
                                  const std::vector<Share>& shares);

  std::int64_t count() const { return count_; }
  std::int64_t stage_bytes() const { return stage_bytes_; }
  /// True if arrays with these strides can be moved, that is, if their rows have no gaps.
  bool fits(const Extents& strides) const { return strides[fast_] == element_bytes_; }

  std::int64_t row_bytes() const { return row_bytes_; }
  /// Returns the maximum number of bytes that a row reads, if each source is read from the first byte that the row
  /// needs to the last one.
  std::int64_t max_read() const;
  /// Calls visit(source, first byte, bytes) for each stretch that a row reads, at the addresses of `sources`.
  template <typename Visit>
  void for_each_read(std::int64_t row, std::span<const copy::LocalArray> sources, Visit&& visit) const {
    const RowLocation found = find(row, nullptr);
    if (found.program == nullptr) return;
    for (const Slot& slot : found.program->slots) {
      if (slot.lo >= slot.hi) continue;
      const copy::LocalArray& source = sources[slot.source];
      const std::byte* begin = source.data + slot.lo + found.segment * slot.advance;
      for (const std::size_t d : slow_) begin += found.a[d] * source.strides[d];
      visit(slot.source, begin, slot.hi - slot.lo);
    }
  }

  /// Returns the number of calls of Prefetch::tick() in run() for a row, by which the caller divides the prefetch.
  std::int64_t ticks(std::int64_t row) const;
  /// Adds the stretches that a row reads to a prefetch.
  void reads(std::int64_t row, std::span<const copy::LocalArray> sources, Prefetch& prefetch) const;
  /// Assembles a row in the target. stage: stage_bytes() bytes of memory.
  void run(std::int64_t row, std::span<const copy::LocalArray> sources, const copy::LocalArray& target,
           std::byte* stage, Prefetch& prefetch) const;

 private:
  /// `count` runs of `bytes` bytes from offset `a` of the source row to offset `b` of the target row. If `ways` > 1,
  /// this is the first of `ways` entries whose runs alternate in the target: a zip (copy/zip.hpp).
  struct Run {
    std::int64_t a = 0;
    std::int64_t b = 0;
    std::int64_t bytes = 0;
    std::int64_t count = 1;
    std::int64_t a_stride = 0;
    std::int64_t b_stride = 0;
    std::uint32_t slot = 0;
    std::int32_t ways = 1;
  };
  /// A stretch of a row that is assembled at a time.
  struct Part {
    std::int64_t lo = 0;  // offset in the row, in bytes
    std::int64_t bytes = 0;
    bool whole = false;   // true if the runs leave no gaps
    bool lines = false;   // true if zips fill whole cache lines, so that no stage is needed
    bool joined = false;  // true if the runs are long enough to be joined without a stage
    std::vector<Run> runs;
  };
  /// The bytes that a row takes from one source.
  struct Slot {
    std::size_t source = 0;
    std::int64_t lo = 0;  // [lo, hi): bytes of the source's row
    std::int64_t hi = 0;
    std::int64_t advance = 0;  // bytes from the source position of a segment to that of the next one
  };
  /// The runs of all rows of one kind.
  struct Program {
    std::vector<Slot> slots;
    std::vector<Part> parts;
    std::int64_t ticks = 0;  // calls of Prefetch::tick() in run() for a row
  };
  /// The origin of a position of a slower dimension: position `a` of the sources whose shares are in class `kind`.
  struct Origin {
    std::int64_t kind = -1;
    std::int64_t a = 0;
  };
  /// The program of a row and the row's position in the slower dimensions.
  struct RowLocation {
    const Program* program = nullptr;
    Extents a;                 // source position in each dimension
    std::int64_t offset = 0;   // of the row in the target
    std::int64_t segment = 0;  // number of the segment in the array's row; 0 before and after all segments
  };

  Rows() = default;
  bool classify(const Extents& shape, const std::vector<Share>& shares, std::vector<Extents>& kinds);
  void plan_programs(const std::vector<Share>& shares, const std::vector<Extents>& kinds, std::int64_t row,
                     const std::optional<RowSegments>& found);
  void compile(Program& program, const std::vector<const Share*>& shares, std::int64_t lo, std::int64_t hi) const;
  static constexpr std::int64_t kLine = 64;
  static constexpr std::int64_t kMaxZipped = 16;
  using Sources = std::array<const std::byte*, kMaxZipped>;
  static Sources find_sources(const Part& part, std::size_t first, std::span<const std::byte* const> bases);
  /// Returns the repeats of a zip between two calls of Prefetch::tick(). Together they fill whole cache lines.
  static std::int64_t zipped_at_once(std::int64_t stride);
  static bool in_lines(std::span<const Run> runs);
  static void find_zips(std::vector<Run>& runs);
  static void expand_repeats(std::vector<Run>& runs);
  /// Returns the program and the location of a row; the offset only if there are strides.
  RowLocation find(std::int64_t row, const Extents* target_strides) const;
  /// Assemble a part: by zips that write whole cache lines, by join() of long runs in registers, or run by run.
  void move_lines(const Part& part, std::span<const std::byte* const> bases, std::byte* to, Prefetch& prefetch) const;
  static void join(const Part& part, std::span<const std::byte* const> bases, std::byte* to, Prefetch& prefetch);
  void move(const Part& part, std::span<const std::byte* const> bases, std::byte* to, Prefetch& prefetch) const;

  std::int64_t element_bytes_ = 1;
  std::size_t fast_ = 0;
  DimensionOrder slow_;                       // slowest first
  std::vector<std::vector<Origin>> origins_;  // for each dimension, by position
  std::map<Extents, Program> programs_;       // by the classes of the slower dimensions and the unit
  std::int64_t count_ = 1;
  // An array's row has equal segments, with other elements before and after them. All of these are divided into units,
  // which are the rows of this plan.
  std::int64_t row_bytes_ = 0;  // maximum bytes of a unit
  std::int64_t segment_bytes_ = 0;
  std::int64_t units_before_ = 0;  // before the segments
  std::int64_t units_of_segment_ = 1;
  std::int64_t units_of_segments_ = 1;  // of all segments
  std::int64_t units_ = 1;
  std::int64_t stage_bytes_ = 0;
  bool streamed_ = false;  // true if the target is large: parts without gaps are written past the caches
};

}  // namespace plait::exchange
