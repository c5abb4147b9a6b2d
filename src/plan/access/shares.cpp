// Shares and windows of an access: which positions each reader touches, and in which windows.
//
// Readers take consecutive shares of equal size.  Shares and windows begin at multiples of a storage unit in the file,
// so that no two readers touch one page; therefore they are counted from the unit in which the section begins, which may
// be `shift_` elements before it.  If the array is stored in chunks, shares are of whole chunks or shards instead.
//
// Example: 3 readers take 1,000,000 elements of 8 bytes from byte 128 of a file, with units of 4096 bytes.  A unit is 512
// elements, and the section begins 16 elements after one.  A third of 1,000,016 elements, rounded up to whole units, is
// 652 units or 333,824 elements.  The shares are [0, 333808), [333808, 667632) and [667632, 1000000).  The second one
// begins at byte 128 + 8 * 333,808 = 652 * 4096.  Windows of 1 MiB are 131,072 elements, so each share has at most 3:
// those of the second share are [333808, 464880), [464880, 595952) and [595952, 667632).

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "base/wide.hpp"
#include "plan/access/access.hpp"
#include "plan/conversion/pieces.hpp"

namespace plait::plan {

namespace {

/// How many elements the section's first one lies behind an element that begins on a storage unit; where the offset
/// lets no element begin there, behind one that begins as little behind as can be.
std::int64_t elements_behind_unit(std::int64_t data_offset, std::int64_t origin, std::int64_t element_bytes,
                                  std::int64_t storage_unit) {
  const std::int64_t common = std::gcd(storage_unit, element_bytes);
  const std::int64_t unit = storage_unit / common;
  // s * element_bytes = data_offset + origin * element_bytes modulo the storage unit.
  const std::int64_t inverse = solve_congruence(element_bytes / common, unit).inverse;
  return static_cast<std::int64_t>((origin % unit + base::Wide{data_offset / common % unit} * inverse) % unit);
}

}  // namespace

std::int64_t AccessPlan::most_readers() const {
  constexpr std::int64_t kLeastShareBytes = std::int64_t{64} << 10;
  const std::int64_t helpful =
      base::ceil_divide(section_.elements, std::max<std::int64_t>(kLeastShareBytes / element_bytes_, 1));
  return std::clamp<std::int64_t>(helpful, 1, workers_);
}

void AccessPlan::choose_shares(std::int64_t data_offset, std::int64_t wanted_readers) {
  const std::int64_t readers = wanted_readers == 0 ? most_readers() : wanted_readers;
  if (section_.chunks) {
    const Chunks& all = *section_.chunks;
    const std::int64_t units = std::max<std::int64_t>(whole_shards_ ? all.shards() : all.count(), 1);
    share_units_ = base::ceil_divide(units, readers);
    readers_ = base::ceil_divide(units, share_units_);
    std::int64_t most = 1;
    for (std::int64_t reader = 0; reader < readers_; ++reader)
      most = std::max(most, whole_shards_ ? first_chunk(reader + 1) - first_chunk(reader) : share_units_);
    share_ = std::max<std::int64_t>(most * all.largest(), 1);
    return;
  }
  unit_ = options_.storage_unit / std::gcd(options_.storage_unit, element_bytes_);
  shift_ = section_.contiguous()
               ? elements_behind_unit(data_offset, section_.origin, element_bytes_, options_.storage_unit)
               : 0;
  const std::int64_t raw = base::ceil_divide(std::max<std::int64_t>(section_.elements + shift_, 1), readers);
  share_ = base::ceil_divide(raw, unit_) * unit_;
  readers_ = base::ceil_divide(std::max<std::int64_t>(section_.elements + shift_, 1), share_);
}

void AccessPlan::choose_window(std::int64_t memory_bytes) {
  const std::int64_t most = memory_bytes / buffers() / element_bytes_;
  if (most < 1)
    base::throw_argument_error("memory=", memory_bytes, " is too little: staging needs ", buffers(),
                               " buffers of at least one element of ", element_bytes_, " bytes; use at least ",
                               buffers() * element_bytes_, " bytes");
  if (section_.chunks) {
    choose_chunks_of_window(most);
    return;
  }
  window_ = std::min({most, std::max<std::int64_t>(kWindowBytes / element_bytes_, 1), share_});
  if (window_ > unit_) window_ -= window_ % unit_;
  // Windows of whole units are counted from a unit on, others from where the share begins; share(1) is a whole one
  // where there are three or more.
  const std::int64_t longest = window_ < unit_
                                   ? std::max({share(0).size(), share(1).size(), share(readers_ - 1).size()})
                               : readers_ > 1 ? share_
                                              : section_.elements + shift_;
  windows_ = section_.elements == 0 ? 0 : base::ceil_divide(longest, window_);
}

void AccessPlan::choose_chunks_of_window(std::int64_t most) {
  if (section_.elements == 0) return;
  const std::int64_t largest = section_.chunks->largest();
  window_ = std::min({most, std::max(kWindowBytes / element_bytes_, largest), share_});
  window_chunks_ = window_ / largest;
  if (window_chunks_ > 0) {
    window_ = window_chunks_ * largest;
    for (std::int64_t reader = 0; reader < (whole_shards_ ? readers_ : 1); ++reader)
      windows_ = std::max(windows_, base::ceil_divide(first_chunk(reader + 1) - first_chunk(reader), window_chunks_));
    return;
  }
  // No window has room for a chunk: each goes in pieces, one after another, by one reader all the same.
  for (std::int64_t reader = 0; reader < readers_; ++reader)
    windows_ = std::max(windows_, base::ceil_divide(share(reader).size(), window_));
}

AccessPlan::Range AccessPlan::share(std::int64_t reader) const {
  if (reader >= readers_) return {section_.elements, section_.elements};
  if (section_.chunks) return of_chunks(first_chunk(reader), first_chunk(reader + 1));
  const std::int64_t begin = std::max<std::int64_t>(reader * share_ - shift_, 0);
  const std::int64_t end = reader + 1 == readers_ ? section_.elements : (reader + 1) * share_ - shift_;
  return {begin, end};
}

std::int64_t AccessPlan::first_chunk(std::int64_t reader) const {
  const std::int64_t unit = reader * share_units_;
  return whole_shards_ ? section_.chunks->first_in_shard(unit) : std::min(unit, section_.chunks->count());
}

AccessPlan::Range AccessPlan::of_chunks(std::int64_t first, std::int64_t end) const {
  return {section_.chunks->position_of(first), section_.chunks->position_of(end)};
}

AccessPlan::Range AccessPlan::window(std::int64_t reader, std::int64_t number) const {
  if (window_chunks_ > 0 && reader < readers_) {
    const std::int64_t end = first_chunk(reader + 1);
    const std::int64_t first = std::min(first_chunk(reader) + number * window_chunks_, end);
    return of_chunks(first, std::min(first + window_chunks_, end));
  }
  const Range whole = share(reader);
  if (whole.empty()) return whole;
  // Counted from where the share would begin on a storage unit, so that windows begin on units as well.
  const std::int64_t origin = window_ < unit_ || section_.chunks ? whole.begin : reader * share_ - shift_;
  const std::int64_t begin = origin + number * window_;
  return {std::clamp(begin, whole.begin, whole.end), std::clamp(begin + window_, whole.begin, whole.end)};
}

namespace {

std::int64_t next_in_part(const std::vector<IndexSet>& sets, const ChunkPart& part, std::int64_t position) {
  return next_of_product(part.shape, position, [&](std::size_t d, std::int64_t index) {
    const std::int64_t found = sets[d].next(part.lo[d] + index);
    return found < sets[d].end ? found - part.lo[d] : part.shape[d];
  });
}

std::int64_t next_in_chunks(const std::vector<IndexSet>& sets, const Chunks& chunks, std::int64_t position) {
  std::int64_t number = chunks.number_at(position);
  const ChunkPart here = chunks.part(number);
  const std::int64_t found = next_in_part(sets, here, position - here.position);
  if (found < here.elements) return here.position + found;
  number = chunks.next_wanted(number + 1, [&](std::size_t d, std::int64_t index) {
    const std::int64_t member = sets[d].next(index);
    return member < sets[d].end ? member : std::numeric_limits<std::int64_t>::max();
  });
  if (number == chunks.count()) return chunks.position_of(number);
  const ChunkPart part = chunks.part(number);
  return part.position + next_in_part(sets, part, 0);
}

}  // namespace

std::int64_t AccessPlan::next_owned(const std::vector<IndexSet>& sets, std::int64_t position) const {
  for (const IndexSet& set : sets)
    if (set.empty()) return section_.elements;
  if (position >= section_.elements) return section_.elements;
  if (section_.chunks) return next_in_chunks(sets, *section_.chunks, position);
  return next_of_product(section_.shape, position, [&](std::size_t d, std::int64_t index) {
    const std::int64_t found = sets[d].next(index);
    return found < sets[d].end ? found : section_.shape[d];
  });
}

}  // namespace plait::plan
