// Assembles rows from short runs, by programs that are compiled once for all rows of a kind (rows_plan.cpp).
//
// Problem: non-temporal stores write whole cache lines past the caches, but runs begin and end within lines.
//
// Idea: parts of rows, of about 16 KiB, are assembled in a stage in the first-level cache, from which whole lines are
// written. Two kinds of parts need no stage: those of long runs, which are joined in a register, and those of zips that
// fill whole lines. A zip interleaves runs of several sources in turn (copy/zip.hpp).
//
// Example: a part of a row has 57 runs of 288 bytes from two sources in turn. The runs have at least 96 bytes, so they
// are joined: copy::join() gets 4 runs or 1152 bytes at a time, and the prefetch of the next row advances at each run.

#include "exchange/rows.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "base/checked.hpp"
#include "copy/join.hpp"
#include "copy/strided_copy.hpp"
#include "copy/zip.hpp"

namespace plait::exchange {

namespace {

constexpr std::int64_t kZippedBytes = 1024;  // between two calls of Prefetch::tick()
constexpr std::int64_t kJoinedBytes = 1024;  // bytes of one call of copy::join()

template <std::size_t kBytes>
/// Copies `count` runs of kBytes bytes, so that the compiler knows their length.
void strided(std::byte* to, const std::byte* from, std::int64_t count, std::int64_t to_stride,
             std::int64_t from_stride) {
  for (std::int64_t i = 0; i < count; ++i) std::memcpy(to + i * to_stride, from + i * from_stride, kBytes);
}

}  // namespace

std::int64_t Rows::zipped_at_once(std::int64_t stride) {
  const std::int64_t whole = kLine / std::gcd(kLine, stride);
  return base::ceil_divide(kZippedBytes, stride * whole) * whole;
}

Rows::RowLocation Rows::find(std::int64_t row, const Extents* target_strides) const {
  RowLocation location;
  location.a.resize(origins_.size());
  Extents kind(slow_.size() + 1);
  const std::int64_t unit = row % units_;
  row /= units_;
  const std::int64_t unit_of_segments = unit - units_before_;
  if (unit_of_segments < 0) {
    kind.back() = units_of_segment_ + unit;
  } else if (unit_of_segments < units_of_segments_) {
    location.segment = unit_of_segments / units_of_segment_;
    kind.back() = unit_of_segments % units_of_segment_;
  } else {
    kind.back() = units_of_segment_ + unit - units_of_segments_;
  }
  location.offset = location.segment * segment_bytes_;
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
  // The addresses of the sources' rows, without an allocation if there are few sources.
  std::array<const std::byte*, 64> inline_bases;
  std::vector<const std::byte*> heap_bases;
  const std::size_t slots = location.program->slots.size();
  if (slots > inline_bases.size()) heap_bases.resize(slots);
  const std::span<const std::byte*> bases =
      slots > inline_bases.size() ? std::span(heap_bases) : std::span(inline_bases).first(slots);
  for (std::size_t k = 0; k < slots; ++k) {
    const copy::LocalArray& source = sources[location.program->slots[k].source];
    bases[k] = source.data + location.segment * location.program->slots[k].advance;
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
