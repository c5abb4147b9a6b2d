#include "container/hdf5/dataset.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "container/array_type.hpp"
#include "container/hdf5/filters.hpp"

namespace plait::container::hdf5 {

namespace {

// Modulo 2^64, as whatever bytes say.
std::int64_t sum(std::int64_t one, std::int64_t other) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(one) + static_cast<std::uint64_t>(other));
}
std::uint64_t further(std::int64_t one, std::int64_t than) {
  return static_cast<std::uint64_t>(one) - static_cast<std::uint64_t>(than);
}

}  // namespace

Extents HdfDataset::grid() const {
  Extents result(chunk.size());
  for (std::size_t d = 0; d < chunk.size(); ++d) result[d] = type.shape[d] / chunk[d] + (type.shape[d] % chunk[d] != 0);
  return result;
}

std::int64_t HdfDataset::bytes_inside(std::int64_t number) const {
  std::int64_t bytes = type.element_bytes;
  const Extents all = grid();
  for (std::size_t d = all.size(); d-- > 0; number /= all[d])
    bytes *= std::min(chunk[d], type.shape[d] - number % all[d] * chunk[d]);
  return bytes;
}

std::int64_t HdfDataset::chunk_bytes() const {
  std::int64_t bytes = type.element_bytes;  // which have been found to fit
  for (const std::int64_t extent : chunk) bytes *= extent;
  return bytes;
}

bool HdfDataset::chunks_fit() const {
  const std::optional<std::int64_t> bytes = bytes_of(chunk, type.element_bytes);
  std::int64_t all = bytes.value_or(0);
  bool fits = bytes.has_value();
  for (const std::int64_t chunks_along : grid()) fits = fits && !__builtin_mul_overflow(all, chunks_along, &all);
  return fits;
}

void HdfDataset::pad_with_null(std::span<std::byte> texts) const {
  const auto bytes = static_cast<std::size_t>(type.element_bytes);
  for (std::size_t begin = 0; padding != TextPadding::kNull && begin < texts.size(); begin += bytes) {
    const std::span<std::byte> text = texts.subspan(begin, bytes);
    auto end = text.end();
    if (padding == TextPadding::kTerminated)
      end = std::ranges::find(text, std::byte{0});
    else
      while (end != text.begin() && *(end - 1) == std::byte{' '}) --end;
    std::fill(end, text.end(), std::byte{0});
  }
}

bool HdfDataset::has_missing(std::int64_t number) const {
  if (stored_shape.empty()) return false;
  const Extents all = grid();
  for (std::size_t d = stored_shape.size(); d-- > 0; number /= all[d])
    if (stored_shape[d] < type.shape[d] && (number % all[d] + 1) * chunk[d] > stored_shape[d]) return true;
  return false;
}

void HdfDataset::fill_missing(std::int64_t number, std::span<std::byte> into) const {
  const std::vector<std::byte>& value = missing.empty() ? fill : missing;
  const Extents all = grid();
  Extents limit(chunk.size());  // elements of the chunk that are in the file, along each dimension
  for (std::size_t d = chunk.size(); d-- > 0; number /= all[d]) {
    limit[d] = std::clamp<std::int64_t>(stored_shape[d] - number % all[d] * chunk[d], 0, chunk[d]);
    if (stored_shape[d] == type.shape[d]) limit[d] = chunk[d];
  }
  Extents at(chunk.size());
  for (std::size_t begin = 0; begin < into.size(); begin += value.size()) {
    bool is_stored = true;
    for (std::size_t d = 0; d < at.size(); ++d) is_stored = is_stored && at[d] < limit[d];
    if (!is_stored) std::ranges::copy(value, into.begin() + static_cast<std::ptrdiff_t>(begin));
    for (std::size_t d = at.size(); d-- > 0;) {
      if (++at[d] < chunk[d]) break;
      at[d] = 0;
    }
  }
}

bool HdfDataset::needs_offsets() const {
  if (storage != Storage::kChunks) return false;
  std::int64_t all = 1;
  for (const std::int64_t count : grid()) all *= count;  // which has been found to fit
  return !filters.empty() || static_cast<std::int64_t>(chunks.size()) != all;
}

std::string HdfDataset::describe_storage() const {
  if (chunk.empty())
    return storage == Storage::kInside ? "compact" : storage == Storage::kNone ? "not written" : "contiguous";
  std::string out = "chunks ";
  for (std::size_t d = 0; d < chunk.size(); ++d) base::append_parts(out, d == 0 ? "" : "x", chunk[d]);
  for (const Filter& filter : filters) base::append_parts(out, ", ", filter_words(filter));
  return out;
}

namespace {

/// How a chunk differs from the one before.  Most follow each other in the array and in the file, and have nearly one
/// size, so that 3 to 5 bytes are enough for each: a million chunks take 4 MB and 5 to 9 ms; as they are, 32 MB and 4.
struct ChunkDelta {
  std::uint64_t skipped = 0;   ///< chunks between them, twice; plus 1 if left_out differs
  std::uint32_t left_out = 0;  ///< if it differs
  std::int64_t gap = 0;        ///< bytes between them
  std::int64_t growth = 0;     ///< bytes by which it is larger
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, ChunkDelta>& delta) {
  codec.compact(delta.skipped);
  if (delta.skipped % 2 != 0) codec.compact(delta.left_out);
  codec.compact(delta.gap);
  codec.compact(delta.growth);
}

/// The bytes of a ChunkDelta at least.
constexpr std::size_t kDeltaBytes = 3;

ChunkDelta delta_of(const Chunk& chunk, const Chunk& before) {
  const bool differs = chunk.left_out != before.left_out;
  return {further(chunk.number, sum(before.number, 1)) * 2 + (differs ? 1 : 0), chunk.left_out,
          static_cast<std::int64_t>(further(chunk.offset, sum(before.offset, before.bytes))),
          static_cast<std::int64_t>(further(chunk.bytes, before.bytes))};
}

Chunk chunk_of(const ChunkDelta& delta, const Chunk& before) {
  return {sum(sum(before.number, 1), static_cast<std::int64_t>(delta.skipped / 2)),
          sum(sum(before.offset, before.bytes), delta.gap), sum(before.bytes, delta.growth),
          delta.skipped % 2 != 0 ? delta.left_out : before.left_out};
}

template <class Codec>
void chunk_fields(Codec& codec, base::Record<Codec, std::vector<Chunk>>& chunks) {
  const std::size_t count = codec.length(chunks.size(), kDeltaBytes);
  if constexpr (Codec::kDecodes) chunks.resize(count);
  Chunk before;
  before.number = -1;
  for (auto& chunk : chunks) {
    if constexpr (Codec::kDecodes) {
      ChunkDelta delta;
      codec(delta);
      chunk = chunk_of(delta, before);
    } else {
      codec(delta_of(chunk, before));
    }
    before = chunk;
  }
}

}  // namespace

template <class Codec>
void fields(Codec& codec, base::Record<Codec, HdfDataset>& dataset) {
  codec(dataset.type, dataset.fill, dataset.stored_shape, dataset.missing, dataset.storage, dataset.padding,
        dataset.offset, dataset.inside, dataset.chunk, dataset.filters, dataset.edges_packed, dataset.changes);
  chunk_fields(codec, dataset.chunks);
}

std::string packed(const HdfDataset& dataset) { return base::encode(dataset); }

HdfDataset unpacked(std::string_view bytes) { return base::decode<HdfDataset>(bytes, base::kAnotherRank); }

}  // namespace plait::container::hdf5
