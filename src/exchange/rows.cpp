// Assembles rows from short runs, by programs that are compiled once for all rows of a kind.
//
// Problem: in a redistribution from cyclic(1) to block every element of a target row comes from another source than its
// neighbour. A nest of loops per source writes the row once per source, with gaps, and computes addresses for each
// element.
//
// Idea: rows whose slower dimensions come from the same coordinates repeat the same runs. classify() finds these
// classes, and compile() lists the runs of a class in the order of the target, as offsets into the sources' rows. A row
// is then one pass over that list. Runs that alternate without gaps become one zip (up to 16 ways), which vector
// shuffles interleave. Rows are assembled in parts of about kPartBytes in a stage, from which they are written past the
// caches.
//
// Example: 4 sources hold cyclic(1) of rows of 1,000 doubles, and the target holds whole rows. Source s gives the run
// (a = 0, b = 8*s, 8 bytes, repeated 250 times by a_stride 8 and b_stride 32). find_zips() sees that the four runs
// begin 8 bytes apart, repeat equally often and fill b_stride: one zip of 4 ways makes the whole row.

#include "exchange/rows.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "base/checked.hpp"
#include "copy/join.hpp"
#include "copy/strided_copy.hpp"
#include "copy/zip.hpp"

namespace plait::exchange {

namespace {

constexpr std::int64_t kMinRows = 16;
constexpr std::int64_t kLongRun = 1024;  // bytes of runs for which one nest of loops is as fast
constexpr std::int64_t kPartBytes = 16 << 10;
constexpr std::int64_t kZippedBytes = 1024;  // between two calls of Prefetch::tick()
constexpr std::int64_t kJoinedBytes = 1024;  // bytes of one call of copy::join()
constexpr std::int64_t kJoinedRun = 96;      // bytes of runs; shorter ones are faster through the stage
constexpr std::int64_t kLine = 64;

/// Returns the distance at which all runs of a row repeat, or 1 if there is none.
std::int64_t find_period(const std::vector<Share>& shares, std::size_t fast) {
  std::int64_t period = 1;
  for (const Share& share : shares)
    for (const plan::Piece& piece : share.pieces[fast])
      if (piece.count > 1) period = std::max(period, piece.b_stride);
  for (const Share& share : shares)
    for (const plan::Piece& piece : share.pieces[fast])
      if (piece.count > 1 && period % piece.b_stride != 0) return 1;
  return period;
}

/// Returns the number of repeats of a zip between two calls of Prefetch::tick(). Together they fill whole cache lines.
std::int64_t zipped_at_once(std::int64_t stride) {
  const std::int64_t whole = kLine / std::gcd(kLine, stride);
  return base::ceil_divide(kZippedBytes, stride * whole) * whole;
}

template <std::size_t kBytes>
void strided(std::byte* to, const std::byte* from, std::int64_t count, std::int64_t to_stride,
             std::int64_t from_stride) {
  for (std::int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, kBytes);
}

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
  if (rows.count_ < kMinRows || runs == 0) return std::nullopt;
  if (elements * element_bytes >= runs * kLongRun || elements * element_bytes < runs * 4) return std::nullopt;
  // The list of origins of all positions of the slower dimensions must be small compared with the rows themselves.
  std::int64_t positions = 0;
  for (const std::size_t d : rows.slow_) positions += target_shape[d];
  if (positions * static_cast<std::int64_t>(sizeof(Origin)) >
      rows.count_ * target_shape[rows.fast_] * element_bytes / 32)
    return std::nullopt;
  std::vector<Extents> kinds;
  if (!rows.classify(target_shape, shares, kinds)) return std::nullopt;
  std::map<Extents, std::vector<const Share*>> groups;
  for (std::size_t s = 0; s < shares.size(); ++s) groups[kinds[s]].push_back(&shares[s]);
  const std::int64_t row = target_shape[rows.fast_];
  rows.row_bytes_ = row * element_bytes;
  const std::int64_t parts = base::ceil_divide(row * element_bytes, kPartBytes);
  // Parts are cut at repeats of the pattern of runs, if the pattern fits into a part.
  const std::int64_t period = find_period(shares, rows.fast_);
  std::int64_t interval = std::max<std::int64_t>(base::ceil_divide(row, parts), 1);
  if (period <= interval) interval = base::ceil_divide(interval, period) * period;
  rows.streamed_ = rows.count_ * row * element_bytes >= streamed_target.load(std::memory_order_relaxed);
  rows.stage_bytes_ = rows.streamed_ ? interval * element_bytes + 2 * kLine : 0;
  for (const auto& [kind, members] : groups) {
    Program& program = rows.programs_[kind];
    for (std::int64_t lo = 0; lo < row; lo += interval)
      rows.compile(program, members, lo, std::min(lo + interval, row));
  }
  return rows;
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

void Rows::compile(Program& program, const std::vector<const Share*>& shares, std::int64_t lo, std::int64_t hi) const {
  if (program.slots.empty())
    for (const Share* share : shares)
      program.slots.push_back({share->source, std::numeric_limits<std::int64_t>::max(), 0});
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

Rows::RowLocation Rows::find(std::int64_t row, const Extents* target_strides) const {
  RowLocation location;
  location.a.resize(origins_.size());
  Extents kind(slow_.size());
  for (std::size_t i = slow_.size(); i-- > 0;) {
    const std::size_t d = slow_[i];
    const auto extent = static_cast<std::int64_t>(origins_[d].size());
    const std::int64_t position = row % extent;
    row /= extent;
    const Origin& origin = origins_[d][static_cast<std::size_t>(position)];
    kind[i] = origin.kind;
    location.a[d] = origin.a;
    if (target_strides != nullptr) location.offset += position * (*target_strides)[d];
  }
  const auto program = programs_.find(kind);
  if (program != programs_.end()) location.program = &program->second;
  return location;
}

std::int64_t Rows::ticks(std::int64_t row) const {
  const RowLocation location = find(row, nullptr);
  return location.program == nullptr ? 0 : location.program->ticks;
}

std::int64_t Rows::max_read() const {
  std::int64_t max_bytes = 0;
  for (const auto& [kind, program] : programs_) {
    std::map<std::size_t, std::pair<std::int64_t, std::int64_t>> stretches;
    for (const Slot& slot : program.slots) {
      if (slot.lo >= slot.hi) continue;
      const auto [entry, is_new] = stretches.try_emplace(slot.source, slot.lo, slot.hi);
      if (!is_new) entry->second = {std::min(entry->second.first, slot.lo), std::max(entry->second.second, slot.hi)};
    }
    std::int64_t bytes = 0;
    for (const auto& [source, stretch] : stretches) bytes += stretch.second - stretch.first;
    max_bytes = std::max(max_bytes, bytes);
  }
  return max_bytes;
}

void Rows::reads(std::int64_t row, std::span<const copy::LocalArray> sources, Prefetch& prefetch) const {
  for_each_read(row, sources,
                [&](std::size_t, const std::byte* begin, std::int64_t bytes) { prefetch.add(begin, bytes); });
}

void Rows::run(std::int64_t row, std::span<const copy::LocalArray> sources, const copy::LocalArray& target,
               std::byte* stage, Prefetch& prefetch) const {
  const RowLocation location = find(row, &target.strides);
  if (location.program == nullptr) return;
  std::array<const std::byte*, 64> inline_bases;
  std::vector<const std::byte*> heap_bases;
  const std::size_t slots = location.program->slots.size();
  if (slots > inline_bases.size()) heap_bases.resize(slots);
  const std::span<const std::byte*> bases =
      slots > inline_bases.size() ? std::span(heap_bases) : std::span(inline_bases).first(slots);
  for (std::size_t k = 0; k < slots; ++k) {
    const copy::LocalArray& source = sources[location.program->slots[k].source];
    bases[k] = source.data;
    for (const std::size_t d : slow_) bases[k] += location.a[d] * source.strides[d];
  }
  for (const Part& part : location.program->parts) {
    std::byte* const to = target.data + location.offset + part.lo;
    if (!streamed_ || !part.whole) {
      move(part, bases, to, prefetch);
      continue;
    }
    if (part.joined) {
      join(part, bases, to, prefetch);
      continue;
    }
    if (part.lines && reinterpret_cast<std::uintptr_t>(to) % static_cast<std::uintptr_t>(kLine) == 0) {
      move_lines(part, bases, to, prefetch);
      continue;
    }
    // In the stage each byte has the same position within a line as in the target.
    std::byte* const position = stage + reinterpret_cast<std::uintptr_t>(to) % static_cast<std::uintptr_t>(kLine);
    move(part, bases, position, prefetch);
    copy::strided_copy(to, position, part.bytes, {}, copy::Destination::kMemoryUnfenced);
  }
}

Rows::Sources Rows::find_sources(const Part& part, std::size_t first, std::span<const std::byte* const> bases) {
  Sources sources;
  for (std::size_t way = 0; way < static_cast<std::size_t>(part.runs[first].ways); ++way) {
    const Run& run = part.runs[first + way];
    sources[way] = bases[run.slot] + run.a;
  }
  return sources;
}

void Rows::join(const Part& part, std::span<const std::byte* const> bases, std::byte* to, Prefetch& prefetch) {
  std::array<copy::Run, 32> runs;
  std::size_t count = 0;
  std::int64_t bytes = 0;
  for (const Run& run : part.runs) {
    prefetch.tick();
    const std::byte* const from = bases[run.slot] + run.a;
    runs[count++] = {from, run.bytes};
    bytes += run.bytes;
    if (bytes < kJoinedBytes && count < runs.size()) continue;
    // The bytes after the last whole line are joined with the next runs.
    const auto overhang = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to + bytes) % kLine);
    const std::int64_t rest = overhang < run.bytes ? overhang : 0;
    runs[count - 1].bytes -= rest;
    copy::join(to, {runs.data(), count});
    to += bytes - rest;
    bytes = rest;
    count = rest > 0 ? 1 : 0;
    runs[0] = {from + run.bytes - rest, rest};
  }
  if (count > 0) copy::join(to, {runs.data(), count});
}

void Rows::move_lines(const Part& part, std::span<const std::byte* const> bases, std::byte* to,
                      Prefetch& prefetch) const {
  for (std::size_t i = 0; i < part.runs.size(); i += static_cast<std::size_t>(part.runs[i].ways)) {
    const Run& run = part.runs[i];
    Sources sources = find_sources(part, i, bases);
    const std::int64_t repeats = zipped_at_once(run.b_stride);
    for (std::int64_t k = 0; k < run.count; k += repeats) {
      prefetch.tick();
      const std::int64_t count = std::min(repeats, run.count - k);
      copy::zip(to + run.b + k * run.b_stride, sources.data(), run.ways, run.bytes, count,
                copy::Destination::kMemoryUnfenced);
      for (std::int32_t way = 0; way < run.ways; ++way) sources[static_cast<std::size_t>(way)] += count * run.bytes;
    }
  }
}

void Rows::move(const Part& part, std::span<const std::byte* const> bases, std::byte* to, Prefetch& prefetch) const {
  for (std::size_t i = 0; i < part.runs.size(); ++i) {
    const Run& run = part.runs[i];
    prefetch.tick();
    if (run.ways > 1) {
      const Sources sources = find_sources(part, i, bases);
      if (copy::zip(to + run.b, sources.data(), run.ways, run.bytes, run.count)) {
        for (std::int32_t way = 1; way < run.ways; ++way) prefetch.tick();
        i += static_cast<std::size_t>(run.ways) - 1;
        continue;
      }
    }
    const std::byte* from = bases[run.slot] + run.a;
    std::byte* position = to + run.b;
    if (run.count == 1) {
      std::memcpy(position, from, static_cast<std::size_t>(run.bytes));
      continue;
    }
    switch (run.bytes) {
      case 1: strided<1>(position, from, run.count, run.b_stride, run.a_stride); break;
      case 2: strided<2>(position, from, run.count, run.b_stride, run.a_stride); break;
      case 4: strided<4>(position, from, run.count, run.b_stride, run.a_stride); break;
      case 8: strided<8>(position, from, run.count, run.b_stride, run.a_stride); break;
      case 16: strided<16>(position, from, run.count, run.b_stride, run.a_stride); break;
      case 32: strided<32>(position, from, run.count, run.b_stride, run.a_stride); break;
      case 64: strided<64>(position, from, run.count, run.b_stride, run.a_stride); break;
      default:
        for (std::int64_t k = 0; k < run.count; ++k)
          std::memcpy(position + k * run.b_stride, from + k * run.a_stride, static_cast<std::size_t>(run.bytes));
    }
  }
}

}  // namespace plait::exchange
