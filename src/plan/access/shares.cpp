// Shares and windows of a section: which positions each reader accesses, and in which windows.
//
// Readers take consecutive shares of equal size.  Shares and windows begin at multiples of a storage unit in the file,
// so that no two readers access one page.  Therefore they are counted from the unit in which the section begins, which
// may be `shift_` elements before it.  If the array is stored in chunks, shares consist of whole chunks or shards
// instead.
//
// Example: 3 readers take 1,000,000 elements of 8 bytes from byte 128 of a file, with units of 4096 bytes.  A unit is
// 512 elements, and the section begins 16 elements after one.  A third of 1,000,016 elements, rounded up to whole
// units, is 652 units or 333,824 elements.  The shares are [0, 333808), [333808, 667632) and [667632, 1000000).  The
// second one begins at byte 128 + 8 * 333,808 = 652 * 4096.  Windows of 1 MiB are 131,072 elements, so each share has
// at most 3.  The windows of the second share are [333808, 464880), [464880, 595952) and [595952, 667632).

#include "plan/access/shares.hpp"

#include <algorithm>
#include <numeric>

#include "base/checked.hpp"
#include "base/int128.hpp"
#include "plan/conversion/pieces.hpp"

namespace plait::plan {

namespace {

/// Returns the number of elements from the last element that begins on a storage unit to the section's first element.
/// If the data offset lets no element begin on a unit, the elements that begin closest after a unit take that role.
std::int64_t elements_after_unit(std::int64_t origin, const ShareBounds& bounds) {
  const std::int64_t common = std::gcd(bounds.storage_unit, bounds.element_bytes);
  const std::int64_t unit = bounds.storage_unit / common;
  // The result is the solution s of s * element_bytes = data_offset + origin * element_bytes, modulo the storage unit.
  const std::int64_t inverse = solve_congruence(bounds.element_bytes / common, unit).inverse;
  return static_cast<std::int64_t>((origin % unit + base::Int128{bounds.data_offset / common % unit} * inverse) % unit);
}

/// Returns the positions of the chunks [first, end).
PositionRange chunk_positions(const Chunks& chunks, std::int64_t first, std::int64_t end) {
  return {chunks.first_position(first), chunks.first_position(end)};
}

}  // namespace

std::int64_t max_readers(std::int64_t elements, std::int64_t element_bytes, std::int64_t workers) {
  constexpr std::int64_t kMinShareBytes = std::int64_t{64} << 10;
  const std::int64_t min_share = std::max<std::int64_t>(kMinShareBytes / element_bytes, 1);
  return std::clamp<std::int64_t>(base::ceil_divide(elements, min_share), 1, workers);
}

Shares::Shares(const Section& section, std::int64_t readers, const ShareBounds& bounds)
    : in_chunks_(section.chunks.has_value()), whole_shards_(bounds.whole_shards) {
  if (in_chunks_) {
    divide_chunks(*section.chunks, readers);
    size_windows_of_chunks(section, bounds);
  } else {
    divide_units(section, readers, bounds);
    size_windows(section, bounds);
  }
}

void Shares::divide_chunks(const Chunks& chunks, std::int64_t readers) {
  const std::int64_t units = std::max<std::int64_t>(whole_shards_ ? chunks.shards() : chunks.count(), 1);
  share_units_ = base::ceil_divide(units, readers);
  readers_ = base::ceil_divide(units, share_units_);
  std::int64_t max_chunks = whole_shards_ ? 1 : share_units_;
  for (std::int64_t reader = 0; whole_shards_ && reader < readers_; ++reader)
    max_chunks = std::max(max_chunks, first_chunk(chunks, reader + 1) - first_chunk(chunks, reader));
  share_ = std::max<std::int64_t>(max_chunks * chunks.largest(), 1);
}

void Shares::divide_units(const Section& section, std::int64_t readers, const ShareBounds& bounds) {
  unit_ = bounds.storage_unit / std::gcd(bounds.storage_unit, bounds.element_bytes);
  shift_ = section.contiguous() ? elements_after_unit(section.origin, bounds) : 0;
  const std::int64_t shifted = std::max<std::int64_t>(section.elements + shift_, 1);
  share_ = base::ceil_divide(base::ceil_divide(shifted, readers), unit_) * unit_;
  readers_ = base::ceil_divide(shifted, share_);
}

void Shares::size_windows(const Section& section, const ShareBounds& bounds) {
  const std::int64_t bytes =
      std::clamp(share_ / bounds.min_windows * bounds.element_bytes, kMinWindowBytes, bounds.window_bytes);
  window_ = std::min({bounds.max_window, std::max<std::int64_t>(bytes / bounds.element_bytes, 1), share_});
  if (window_ > unit_) window_ -= window_ % unit_;
  if (section.elements == 0) return;
  // Windows of whole units begin at a unit.  Smaller ones begin where the share begins.  With three shares or more,
  // share 1 is as long as share_.
  std::int64_t longest = readers_ > 1 ? share_ : section.elements + shift_;
  if (window_ < unit_)
    longest = std::max({share(section, 0).size(), share(section, 1).size(), share(section, readers_ - 1).size()});
  windows_ = base::ceil_divide(longest, window_);
}

void Shares::size_windows_of_chunks(const Section& section, const ShareBounds& bounds) {
  if (section.elements == 0) return;
  const Chunks& chunks = *section.chunks;
  window_ = std::min(
      {bounds.max_window, std::max(bounds.chunk_window_bytes / bounds.element_bytes, chunks.largest()), share_});
  window_chunks_ = window_ / chunks.largest();
  if (window_chunks_ > 0) {
    window_ = window_chunks_ * chunks.largest();
    for (std::int64_t reader = 0; reader < (whole_shards_ ? readers_ : 1); ++reader) {
      const std::int64_t share_chunks = first_chunk(chunks, reader + 1) - first_chunk(chunks, reader);
      windows_ = std::max(windows_, base::ceil_divide(share_chunks, window_chunks_));
    }
    return;
  }
  // A chunk is larger than a window, so its reader transfers it in pieces, one after another.
  for (std::int64_t reader = 0; reader < readers_; ++reader)
    windows_ = std::max(windows_, base::ceil_divide(share(section, reader).size(), window_));
}

PositionRange Shares::share(const Section& section, std::int64_t reader) const {
  if (reader >= readers_) return {section.elements, section.elements};
  if (in_chunks_) {
    const Chunks& chunks = *section.chunks;
    return chunk_positions(chunks, first_chunk(chunks, reader), first_chunk(chunks, reader + 1));
  }
  const std::int64_t begin = std::max<std::int64_t>(reader * share_ - shift_, 0);
  const std::int64_t end = reader + 1 == readers_ ? section.elements : (reader + 1) * share_ - shift_;
  return {begin, end};
}

std::int64_t Shares::first_chunk(const Chunks& chunks, std::int64_t reader) const {
  const std::int64_t unit = reader * share_units_;
  return whole_shards_ ? chunks.first_in_shard(unit) : std::min(unit, chunks.count());
}

PositionRange Shares::window(const Section& section, std::int64_t reader, std::int64_t number) const {
  if (window_chunks_ > 0 && reader < readers_) {
    const Chunks& chunks = *section.chunks;
    const std::int64_t end = first_chunk(chunks, reader + 1);
    const std::int64_t first = std::min(first_chunk(chunks, reader) + number * window_chunks_, end);
    return chunk_positions(chunks, first, std::min(first + window_chunks_, end));
  }
  const PositionRange whole = share(section, reader);
  if (whole.empty()) return whole;
  // Windows are counted from the unit in which the share begins, for the first share from -shift_ on, so that they
  // begin on units as well.
  const std::int64_t origin = window_ < unit_ || in_chunks_ ? whole.begin : reader * share_ - shift_;
  const std::int64_t begin = origin + number * window_;
  return {std::clamp(begin, whole.begin, whole.end), std::clamp(begin + window_, whole.begin, whole.end)};
}

std::int64_t Shares::reader_at(const Section& section, std::int64_t position) const {
  if (!in_chunks_) return (position + shift_) / share_;
  const std::int64_t chunk = section.chunks->number_at(position);
  return (whole_shards_ ? section.chunks->find_shard(chunk) : chunk) / share_units_;
}

}  // namespace plait::plan
