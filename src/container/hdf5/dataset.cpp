// The geometry of a dataset in chunks, its missing records, and its encoding for other ranks.
//
// Chunks at the upper end of a dimension may extend past the array, but they are stored whole.
// Example: shape (5, 7), chunks (2, 3), elements of 8 bytes: the grid is 3x3, and each chunk has 48 bytes. Chunk 8 is
// chunk (2, 2); bytes_inside(8) is 8 * min(2, 5 - 4) * min(3, 7 - 6) = 8 bytes.
//
// Missing records: a netCDF variable may be shorter in the file than its unlimited dimension.
// Example: stored_shape (3), shape (5), chunks of 2. Chunk 0 holds elements 0 and 1, which are in the file. Chunk 1
// holds elements 2 and 3; element 3 is missing and is set to the value of missing elements. Chunk 2 holds elements 4
// and 5; both are set, although element 5 is outside the array.
//
// The encoding writes each chunk as its difference from the one before.
// Example: chunks 0 and 1 are at offsets 2048 and 3048 and have 1000 and 1010 bytes. Chunk 0 is encoded as (skipped 0,
// gap 2048, growth 1000), chunk 1 as (skipped 0, gap 3048 - (2048 + 1000) = 0, growth 10).

#include "container/hdf5/dataset.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "container/array_type.hpp"
#include "container/hdf5/filters.hpp"

namespace plait::container::hdf5 {

namespace {

// Both functions compute modulo 2^64: damaged input may encode any number, and signed overflow would be undefined.
std::int64_t add_modulo(std::int64_t left, std::int64_t right) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(left) + static_cast<std::uint64_t>(right));
}
std::uint64_t subtract_modulo(std::int64_t left, std::int64_t right) {
  return static_cast<std::uint64_t>(left) - static_cast<std::uint64_t>(right);
}

}  // namespace

Extents HdfDataset::grid() const {
  Extents result(chunk.size());
  for (std::size_t d = 0; d < chunk.size(); ++d) result[d] = type.shape[d] / chunk[d] + (type.shape[d] % chunk[d] != 0);
  return result;
}

std::int64_t HdfDataset::bytes_inside(std::int64_t number) const {
  std::int64_t bytes = type.element_bytes;
  const Extents chunk_grid = grid();
  for (std::size_t d = chunk_grid.size(); d-- > 0; number /= chunk_grid[d])
    bytes *= std::min(chunk[d], type.shape[d] - number % chunk_grid[d] * chunk[d]);
  return bytes;
}

std::int64_t HdfDataset::chunk_bytes() const {
  std::int64_t bytes = type.element_bytes;  // cannot overflow: chunks_fit() has been checked
  for (const std::int64_t extent : chunk) bytes *= extent;
  return bytes;
}

bool HdfDataset::chunks_fit() const {
  const std::optional<std::int64_t> bytes = array_bytes(chunk, type.element_bytes);
  std::int64_t all_bytes = bytes.value_or(0);
  bool fits = bytes.has_value();
  for (const std::int64_t chunks_along : grid())
    fits = fits && !__builtin_mul_overflow(all_bytes, chunks_along, &all_bytes);
  return fits;
}

void append_dimensions(HdfDataset& dataset, const Extents& shape) {
  if (dataset.is_null) return;
  Extents& all_extents = dataset.type.shape;
  if (all_extents.size() + shape.size() > kMaxDimensions) {
    if (!dataset.rejection)
      dataset.rejection =
          base::Rejection::because("its elements are arrays, so that it has ", all_extents.size() + shape.size(),
                                   " dimensions, and Plait reads at most ", kMaxDimensions);
    return;
  }
  all_extents.insert(all_extents.end(), shape.begin(), shape.end());
  dataset.max_shape.insert(dataset.max_shape.end(), shape.begin(), shape.end());
  dataset.element_dimensions = static_cast<std::uint32_t>(shape.size());
}

std::vector<std::byte> HdfDataset::element_fill() const {
  const auto bytes = static_cast<std::size_t>(type.element_bytes);
  for (std::size_t i = bytes; i < fill.size(); ++i)
    if (fill[i] != fill[i - bytes]) return {};
  return {fill.begin(), fill.begin() + static_cast<std::ptrdiff_t>(std::min(bytes, fill.size()))};
}

void HdfDataset::pad_with_null(std::span<std::byte> elements) const {
  if (padded_texts.empty()) return;
  for (std::size_t begin = 0; begin < elements.size(); begin += static_cast<std::size_t>(type.element_bytes))
    for (const TextField& field : padded_texts) {
      const std::span<std::byte> text =
          elements.subspan(begin + static_cast<std::size_t>(field.offset), static_cast<std::size_t>(field.bytes));
      auto end = text.end();
      if (field.padding == TextPadding::kTerminated)
        end = std::ranges::find(text, std::byte{0});
      else
        while (end != text.begin() && *(end - 1) == std::byte{' '}) --end;
      std::fill(end, text.end(), std::byte{0});
    }
}

bool HdfDataset::has_missing(std::int64_t number) const {
  if (stored_shape.empty()) return false;
  const Extents chunk_grid = grid();
  for (std::size_t d = stored_shape.size(); d-- > 0; number /= chunk_grid[d])
    if (stored_shape[d] < type.shape[d] && (number % chunk_grid[d] + 1) * chunk[d] > stored_shape[d]) return true;
  return false;
}

void HdfDataset::fill_missing(std::int64_t number, std::span<std::byte> into) const {
  const std::vector<std::byte>& value = missing.empty() ? fill : missing;
  const Extents chunk_grid = grid();
  Extents limit(chunk.size());  // number of the chunk's elements along each dimension that are in the file
  for (std::size_t d = chunk.size(); d-- > 0; number /= chunk_grid[d]) {
    limit[d] = std::clamp<std::int64_t>(stored_shape[d] - number % chunk_grid[d] * chunk[d], 0, chunk[d]);
    if (stored_shape[d] == type.shape[d]) limit[d] = chunk[d];
  }
  Extents index(chunk.size());  // in the chunk, of the element at `begin`
  for (std::size_t begin = 0; begin < into.size(); begin += value.size()) {
    bool is_stored = true;
    for (std::size_t d = 0; d < index.size(); ++d) is_stored = is_stored && index[d] < limit[d];
    if (!is_stored) std::ranges::copy(value, into.begin() + static_cast<std::ptrdiff_t>(begin));
    for (std::size_t d = index.size(); d-- > 0;) {
      if (++index[d] < chunk[d]) break;
      index[d] = 0;
    }
  }
}

bool HdfDataset::relocates_on_write() const {
  if (!library_reason.empty()) return false;
  if (type.has_texts()) return storage == Storage::kChunks || storage == Storage::kContiguous;
  if (storage != Storage::kChunks) return false;
  std::int64_t grid_chunks = 1;
  for (const std::int64_t count : grid()) grid_chunks *= count;  // cannot overflow: chunks_fit() has been checked
  return !filters.empty() || static_cast<std::int64_t>(chunks.size()) != grid_chunks;
}

void add_library_reason(HdfDataset& dataset, const std::string& reason) {
  base::append_parts(dataset.library_reason, dataset.library_reason.empty() ? "" : ", ", reason);
}

std::string HdfDataset::describe_storage() const {
  std::string out;
  if (!chunk.empty()) {
    out = "chunks ";
    for (std::size_t d = 0; d < chunk.size(); ++d) base::append_parts(out, d == 0 ? "" : "x", chunk[d]);
    for (const Filter& filter : filters) base::append_parts(out, ", ", describe_filter(filter));
  } else if (storage != Storage::kLibrary) {
    out = storage == Storage::kCompact ? "compact" : storage == Storage::kNone ? "not written" : "contiguous";
  }
  if (!library_reason.empty())
    base::append_parts(out, out.empty() ? "" : ", ", "read by HDF5's library (", library_reason, ')');
  return out;
}

namespace {

/// The difference between a chunk and the one before it, as encode_dataset() writes it. Most chunks follow each other
/// in the array and in the file and have nearly the same size, so that a chunk needs 3 to 5 bytes. A million chunks
/// need 4 MB, and encoding them 5 to 9 ms; as plain structures they need 32 MB and 4 ms.
struct ChunkDelta {
  std::uint64_t skipped = 0;      ///< twice the number of absent chunks between the two, plus 1 if filter_mask differs
  std::uint32_t filter_mask = 0;  ///< filter mask, encoded only if it differs
  std::int64_t gap = 0;           ///< bytes of the file between the two chunks
  std::int64_t growth = 0;        ///< difference of the sizes in bytes
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, ChunkDelta>& delta) {
  codec.compact(delta.skipped);
  if (delta.skipped % 2 != 0) codec.compact(delta.filter_mask);
  codec.compact(delta.gap);
  codec.compact(delta.growth);
}

/// Minimum number of bytes of an encoded ChunkDelta.
constexpr std::size_t kMinDeltaBytes = 3;

ChunkDelta make_delta(const Chunk& chunk, const Chunk& before) {
  const bool mask_differs = chunk.filter_mask != before.filter_mask;
  return {subtract_modulo(chunk.number, add_modulo(before.number, 1)) * 2 + (mask_differs ? 1 : 0), chunk.filter_mask,
          static_cast<std::int64_t>(subtract_modulo(chunk.offset, add_modulo(before.offset, before.bytes))),
          static_cast<std::int64_t>(subtract_modulo(chunk.bytes, before.bytes))};
}

Chunk apply_delta(const ChunkDelta& delta, const Chunk& before) {
  return {add_modulo(add_modulo(before.number, 1), static_cast<std::int64_t>(delta.skipped / 2)),
          add_modulo(add_modulo(before.offset, before.bytes), delta.gap), add_modulo(before.bytes, delta.growth),
          delta.skipped % 2 != 0 ? delta.filter_mask : before.filter_mask};
}

/// Encodes or decodes the list of chunks.
template <class Codec>
void chunk_fields(Codec& codec, base::Record<Codec, std::vector<Chunk>>& chunks) {
  const std::size_t count = codec.length(chunks.size(), kMinDeltaBytes);
  if constexpr (Codec::kDecodes) chunks.resize(count);
  Chunk before;
  before.number = -1;
  for (auto& chunk : chunks) {
    if constexpr (Codec::kDecodes) {
      ChunkDelta delta;
      codec(delta);
      chunk = apply_delta(delta, before);
    } else {
      codec(make_delta(chunk, before));
    }
    before = chunk;
  }
}

}  // namespace

template <class Codec>
void fields(Codec& codec, base::Record<Codec, HdfDataset>& dataset) {
  codec(dataset.type, dataset.fill, dataset.stored_shape, dataset.missing, dataset.storage, dataset.padded_texts,
        dataset.element_dimensions, dataset.offset, dataset.compact_data, dataset.heap_base, dataset.missing_text,
        dataset.chunk, dataset.filters, dataset.filters_edge_chunks, dataset.changes, dataset.max_shape,
        dataset.library_reason, dataset.path);
  chunk_fields(codec, dataset.chunks);
}

std::string encode_dataset(const HdfDataset& dataset) { return base::encode(dataset); }

HdfDataset decode_dataset(std::string_view bytes) { return base::decode<HdfDataset>(bytes, base::kAnotherRank); }

}  // namespace plait::container::hdf5
