// Compiles the programs (lists of runs) by which Rows assembles rows, one program for all rows of a kind.
//
// Problem: in a redistribution from cyclic(1) to block every element of a target row comes from another source than its
// neighbour. A nest of loops per source writes the row once per source, with gaps, and computes addresses for each
// element.
//
// Idea: rows whose slower dimensions come from the same coordinates repeat the same runs. classify() finds these
// classes, and compile() lists the runs of a class in the order of the target, as offsets into the sources' rows. A row
// is then one pass over that list. Runs that alternate without gaps become one zip (up to 16 ways), which vector
// shuffles interleave. If there are few or long rows, they are divided into segments (row_segments.hpp), and
// long segments into units that have a program each.
//
// Example: 4 sources hold cyclic(1) of rows of 1,000 doubles, and the target holds whole rows. Source s gives the run
// (a = 0, b = 8*s, 8 bytes, repeated 250 times by a_stride 8 and b_stride 32). find_zips() sees that the four runs
// begin 8 bytes apart, repeat equally often and fill b_stride: one zip of 4 ways makes the whole row.

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/checked.hpp"
#include "copy/zip.hpp"
#include "exchange/rows.hpp"

namespace plait::exchange {

namespace {

constexpr std::int64_t kMinRows = 16;          // minimum number of rows that are not divided into segments
constexpr std::int64_t kLongRow = 1 << 20;     // bytes of rows that are divided into segments
constexpr std::int64_t kLongRun = 1024;        // bytes of runs for which one nest of loops is as fast
constexpr std::int64_t kPartBytes = 16 << 10;  // of a row that are assembled at a time
constexpr std::int64_t kUnitBytes = 32 << 10;  // maximum bytes of a unit, so that the next one can be prefetched
constexpr std::int64_t kJoinedRun = 96;        // bytes of runs; shorter ones are faster through the stage

}  // namespace

std::optional<Rows> Rows::make(const Extents& target_shape, const DimensionOrder& source_order,
                               const DimensionOrder& target_order, std::int64_t element_bytes,
                               const std::vector<Share>& shares) {
  if (target_order.empty() || shares.empty() || source_order.back() != target_order.back()) return std::nullopt;
  Rows rows;
  rows.element_bytes_ = element_bytes;
  rows.fast_ = target_order.back();
  rows.slow_.assign(target_order.begin(), target_order.end() - 1);
  for (const std::size_t d : rows.slow_) rows.count_ *= target_shape[d];
  std::int64_t elements = 0;
  std::int64_t runs = 0;
  for (const Share& share : shares) {
    elements += plan::elements(share.pieces[rows.fast_]);
    runs += plan::runs(share.pieces[rows.fast_]);
  }
  if (runs == 0) return std::nullopt;
  if (elements * element_bytes >= runs * kLongRun || elements * element_bytes < runs * 4) return std::nullopt;
  // The list of origins of all positions of the slower dimensions must be small compared with the rows themselves.
  std::int64_t positions = 0;
  for (const std::size_t d : rows.slow_) positions += target_shape[d];
  if (positions * static_cast<std::int64_t>(sizeof(Origin)) >
      rows.count_ * target_shape[rows.fast_] * element_bytes / 32)
    return std::nullopt;
  std::vector<Extents> kinds;
  if (!rows.classify(target_shape, shares, kinds)) return std::nullopt;
  const std::int64_t row = target_shape[rows.fast_];
  std::optional<RowSegments> segments;
  // Rows with gaps, such as those of a single source, are faster by tiles.
  if (elements >= row && (rows.count_ < kMinRows || row * element_bytes >= kLongRow))
    segments = find_segments(shares, rows.fast_, row, element_bytes);
  if (rows.count_ < kMinRows && !segments) return std::nullopt;
  rows.streamed_ = rows.count_ * row * element_bytes >= streamed_target.load(std::memory_order_relaxed);
  rows.plan_programs(shares, kinds, row, segments);
  return rows;
}

/// Compiles the programs of all kinds of rows: those of the units of a segment, then those of the units before and
/// after the segments.
void Rows::plan_programs(const std::vector<Share>& shares, const std::vector<Extents>& kinds, std::int64_t row,
                         const std::optional<RowSegments>& found) {
  const RowSegments segments = found ? *found : RowSegments{0, row, 1, std::vector<std::int64_t>(shares.size(), 0)};
  const std::int64_t end_of_segment = segments.begin + segments.length;
  const std::int64_t rest = segments.begin + segments.count * segments.length;
  // Units end at multiples of cache lines.
  const std::int64_t units = found ? base::ceil_divide(segments.length * element_bytes_, kUnitBytes) : 1;
  const std::int64_t unit =
      std::min(base::ceil_divide(base::ceil_divide(segments.length, units), kLine) * kLine, segments.length);
  segment_bytes_ = segments.length * element_bytes_;
  row_bytes_ = unit * element_bytes_;
  units_before_ = base::ceil_divide(segments.begin, unit);
  units_of_segment_ = base::ceil_divide(segments.length, unit);
  units_of_segments_ = segments.count * units_of_segment_;
  units_ = units_before_ + units_of_segments_ + base::ceil_divide(row - rest, unit);
  count_ *= units_;
  const std::int64_t parts = base::ceil_divide(row_bytes_, kPartBytes);
  // Parts are cut at repeats of the pattern of runs, if the pattern fits into a part.
  const std::int64_t period = find_period(shares, fast_);
  std::int64_t interval = std::max<std::int64_t>(base::ceil_divide(unit, parts), 1);
  if (period <= interval) interval = base::ceil_divide(interval, period) * period;
  stage_bytes_ = streamed_ ? interval * element_bytes_ + 2 * kLine : 0;
  std::map<Extents, std::vector<const Share*>> groups;
  for (std::size_t s = 0; s < shares.size(); ++s) groups[kinds[s]].push_back(&shares[s]);
  for (const auto& [slow_kind, members] : groups) {
    Extents kind = slow_kind;
    kind.push_back(0);
    const auto compile_units = [&, &members = members](std::int64_t first, std::int64_t last, bool advances) {
      for (std::int64_t begin = first; begin < last; begin += unit, ++kind.back()) {
        Program& program = programs_[kind];
        const std::int64_t end = std::min(begin + unit, last);
        for (std::int64_t lo = begin; lo < end; lo += interval)
          compile(program, members, lo, std::min(lo + interval, end));
        for (std::size_t k = 0; advances && k < members.size(); ++k)
          program.slots[k].advance =
              segments.advances[static_cast<std::size_t>(members[k] - shares.data())] * element_bytes_;
      }
    };
    compile_units(segments.begin, end_of_segment, /*advances=*/true);
    compile_units(0, segments.begin, /*advances=*/false);
    compile_units(rest, row, /*advances=*/false);
  }
}

/// Finds the origin of each position of the slower dimensions, and the class (`kinds`) of each share in each of them:
/// shares with equal pieces are in one class. Returns false if a position belongs to several classes.
bool Rows::classify(const Extents& shape, const std::vector<Share>& shares, std::vector<Extents>& kinds) {
  kinds.assign(shares.size(), Extents(slow_.size()));
  origins_.resize(shape.size());
  for (std::size_t i = 0; i < slow_.size(); ++i) {
    const std::size_t d = slow_[i];
    origins_[d].resize(static_cast<std::size_t>(shape[d]));
    std::vector<const plan::Pieces*> known;
    for (std::size_t s = 0; s < shares.size(); ++s) {
      const plan::Pieces& pieces = shares[s].pieces[d];
      const auto same = std::find_if(known.begin(), known.end(), [&](const auto* other) { return *other == pieces; });
      const auto kind = static_cast<std::int64_t>(same - known.begin());
      kinds[s][i] = kind;
      if (same != known.end()) continue;
      known.push_back(&pieces);
      for (const plan::Piece& piece : pieces)
        for (std::int64_t t = 0; t < piece.count; ++t)
          for (std::int64_t k = 0; k < piece.length; ++k) {
            Origin& origin = origins_[d][static_cast<std::size_t>(piece.b + t * piece.b_stride + k)];
            if (origin.kind >= 0) return false;
            origin = {kind, piece.a + t * piece.a_stride + k};
          }
    }
  }
  return true;
}

/// Adds the part [lo, hi) of a row, in elements, to a program: the runs of all shares, in the order of the target.
void Rows::compile(Program& program, const std::vector<const Share*>& shares, std::int64_t lo, std::int64_t hi) const {
  if (program.slots.empty())
    for (const Share* share : shares)
      program.slots.push_back({share->source, std::numeric_limits<std::int64_t>::max(), 0, 0});
  Part part{lo * element_bytes_, (hi - lo) * element_bytes_, false, false, false, {}};
  std::int64_t filled = 0;
  for (std::size_t k = 0; k < shares.size(); ++k) {
    Slot& slot = program.slots[k];
    for (const Family& family : make_families(plan::clip_target(shares[k]->pieces[fast_], lo, hi))) {
      // Short runs at equal distances stay together. All others are written out one by one.
      Run run{0, 0, family.length * element_bytes_, 1, 0, 0, static_cast<std::uint32_t>(k), 1};
      std::array<Family::Loop, Family::kMaxLoops> loops = family.loops;
      if (family.depth > 0 && run.bytes <= kLine) {
        run.count = loops[0].count;
        run.a_stride = loops[0].a_stride * element_bytes_;
        run.b_stride = loops[0].b_stride * element_bytes_;
        loops[0] = {};
      }
      for (std::int64_t i = 0; i < loops[2].count; ++i)
        for (std::int64_t j = 0; j < loops[1].count; ++j)
          for (std::int64_t l = 0; l < loops[0].count; ++l) {
            run.a = (family.a + i * loops[2].a_stride + j * loops[1].a_stride + l * loops[0].a_stride) * element_bytes_;
            run.b = (family.b + i * loops[2].b_stride + j * loops[1].b_stride + l * loops[0].b_stride) * element_bytes_;
            slot.lo = std::min(slot.lo, run.a);
            slot.hi = std::max(slot.hi, run.a + (run.count - 1) * run.a_stride + run.bytes);
            filled += run.count * run.bytes;
            part.runs.push_back(run);
          }
    }
  }
  part.whole = filled == part.bytes;
  std::int64_t runs = 0;
  for (const Run& run : part.runs) runs += run.count;
  part.joined = part.whole && part.bytes >= runs * kJoinedRun;
  if (part.joined) expand_repeats(part.runs);
  std::sort(part.runs.begin(), part.runs.end(), [](const Run& x, const Run& y) { return x.b < y.b; });
  if (!part.joined) find_zips(part.runs);
  part.lines = part.whole && !part.joined && in_lines(part.runs);
  for (std::size_t i = 0; i < part.runs.size(); i += static_cast<std::size_t>(part.lines ? part.runs[i].ways : 1))
    program.ticks += part.lines ? base::ceil_divide(part.runs[i].count, zipped_at_once(part.runs[i].b_stride)) : 1;
  program.parts.push_back(std::move(part));
}

/// Replaces each run that is repeated `count` times by `count` single runs.
void Rows::expand_repeats(std::vector<Run>& runs) {
  std::vector<Run> each;
  for (Run run : runs) {
    const std::int64_t count = std::exchange(run.count, 1);
    for (std::int64_t i = 0; i < count; ++i, run.a += run.a_stride, run.b += run.b_stride) each.push_back(run);
  }
  runs = std::move(each);
}

/// True if zips alone make whole lines of the target, so that these can be written without a stage.
bool Rows::in_lines(std::span<const Run> runs) {
  for (std::size_t i = 0; i < runs.size(); i += static_cast<std::size_t>(runs[i].ways)) {
    const Run& run = runs[i];
    if (run.ways == 1 || run.b % kLine != 0 || !copy::zips_lines(run.ways, run.bytes, run.count)) return false;
  }
  return true;
}

/// Marks the runs that alternate without gaps between them.
void Rows::find_zips(std::vector<Run>& runs) {
  for (std::size_t i = 0; i < runs.size();) {
    Run& first = runs[i];
    std::size_t end = i + 1;
    while (end < runs.size() && first.count > 1 && first.a_stride == first.bytes && runs[end].count == first.count &&
           runs[end].bytes == first.bytes && runs[end].a_stride == first.a_stride &&
           runs[end].b_stride == first.b_stride && runs[end].b == runs[end - 1].b + first.bytes)
      ++end;
    const auto ways = static_cast<std::int64_t>(end - i);
    if (ways > 1 && ways <= kMaxZipped && ways * first.bytes == first.b_stride) {
      first.ways = static_cast<std::int32_t>(ways);
      i = end;
    } else {
      ++i;
    }
  }
}

}  // namespace plait::exchange
