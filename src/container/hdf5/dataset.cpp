#include "container/hdf5/dataset.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "container/array_type.hpp"
#include "container/hdf5/filters.hpp"
#include "container/packing.hpp"

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

Extents Dataset::grid() const {
  Extents result(chunk.size());
  for (std::size_t d = 0; d < chunk.size(); ++d) result[d] = type.shape[d] / chunk[d] + (type.shape[d] % chunk[d] != 0);
  return result;
}

std::int64_t Dataset::bytes_inside(std::int64_t number) const {
  std::int64_t bytes = type.element_bytes;
  const Extents all = grid();
  for (std::size_t d = all.size(); d-- > 0; number /= all[d])
    bytes *= std::min(chunk[d], type.shape[d] - number % all[d] * chunk[d]);
  return bytes;
}

std::int64_t Dataset::chunk_bytes() const {
  std::int64_t bytes = type.element_bytes;  // which have been found to fit
  for (const std::int64_t extent : chunk) bytes *= extent;
  return bytes;
}

bool Dataset::chunks_fit() const {
  const std::optional<std::int64_t> bytes = bytes_of(chunk, type.element_bytes);
  std::int64_t all = bytes.value_or(0);
  bool fits = bytes.has_value();
  for (const std::int64_t chunks_along : grid()) fits = fits && !__builtin_mul_overflow(all, chunks_along, &all);
  return fits;
}

void Dataset::pad_with_null(std::span<std::byte> texts) const {
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

bool Dataset::has_missing(std::int64_t number) const {
  if (stored_shape.empty()) return false;
  const Extents all = grid();
  for (std::size_t d = stored_shape.size(); d-- > 0; number /= all[d])
    if (stored_shape[d] < type.shape[d] && (number % all[d] + 1) * chunk[d] > stored_shape[d]) return true;
  return false;
}

void Dataset::fill_missing(std::int64_t number, std::span<std::byte> into) const {
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

bool Dataset::needs_room() const {
  if (storage != Storage::kChunks) return false;
  std::int64_t all = 1;
  for (const std::int64_t count : grid()) all *= count;  // which has been found to fit
  return !filters.empty() || static_cast<std::int64_t>(chunks.size()) != all;
}

std::string Dataset::kept() const {
  if (chunk.empty())
    return storage == Storage::kInside ? "compact" : storage == Storage::kNone ? "not written" : "contiguous";
  std::string out = "chunks ";
  for (std::size_t d = 0; d < chunk.size(); ++d) base::append_parts(out, d == 0 ? "" : "x", chunk[d]);
  for (const Filter& filter : filters) base::append_parts(out, ", ", filter_words(filter));
  return out;
}

std::string packed(const Dataset& dataset) {
  Packer out;
  out.text(dataset.type.dtype);
  out.number(static_cast<std::uint64_t>(dataset.type.element_bytes));
  out.extents(dataset.type.shape);
  out.bytes(dataset.fill.data(), dataset.fill.size());
  out.extents(dataset.stored_shape);
  out.bytes(dataset.missing.data(), dataset.missing.size());
  out.number(static_cast<std::uint64_t>(dataset.storage));
  out.number(static_cast<std::uint64_t>(dataset.padding));
  out.signed_number(dataset.offset);
  out.bytes(dataset.inside.data(), dataset.inside.size());
  out.extents(dataset.chunk);
  out.number(dataset.filters.size());
  for (const Filter& filter : dataset.filters) {
    out.number(filter.id);
    out.number(filter.values.size());
    for (const std::uint32_t value : filter.values) out.number(value);
    out.text(filter.name);
  }
  out.number(dataset.edges_packed ? 1 : 0);
  out.number(dataset.changes ? 1 : 0);
  if (dataset.changes) {
    out.signed_number(dataset.changes->begin);
    out.number(dataset.changes->mark);
  }
  out.number(dataset.chunks.size());
  // Most follow each other in the file, and are of nearly one size.
  Chunk before;
  before.number = -1;
  for (const Chunk& one : dataset.chunks) {
    const bool differs = one.left_out != before.left_out;
    out.number(further(one.number, sum(before.number, 1)) * 2 + (differs ? 1 : 0));
    if (differs) out.number(one.left_out);
    out.signed_number(static_cast<std::int64_t>(further(one.offset, sum(before.offset, before.bytes))));
    out.signed_number(static_cast<std::int64_t>(further(one.bytes, before.bytes)));
    before = one;
  }
  return out.take();
}

Dataset unpacked(std::string_view bytes) {
  Unpacker in(bytes);
  Dataset dataset;
  dataset.type.dtype = in.bytes();
  dataset.type.element_bytes = static_cast<std::int64_t>(in.number());
  dataset.type.shape = in.extents();
  dataset.fill = in.content();
  dataset.stored_shape = in.extents();
  dataset.missing = in.content();
  dataset.storage = static_cast<Storage>(in.number() & 3);
  dataset.padding = static_cast<TextPadding>(in.number() & 3);
  dataset.offset = in.signed_number();
  dataset.inside = in.content();
  dataset.chunk = in.extents();
  dataset.filters.resize(in.count());
  for (Filter& filter : dataset.filters) {
    filter.id = static_cast<std::uint32_t>(in.number());
    filter.values.resize(in.count());
    for (std::uint32_t& value : filter.values) value = static_cast<std::uint32_t>(in.number());
    filter.name = in.bytes();
  }
  dataset.edges_packed = in.number() != 0;
  if (in.number() != 0) {
    const std::int64_t begin = in.signed_number();
    dataset.changes = Changes{begin, in.number()};
  }
  dataset.chunks.resize(in.count());
  Chunk before;
  before.number = -1;
  for (Chunk& one : dataset.chunks) {
    const std::uint64_t number = in.number();
    one.number = sum(sum(before.number, 1), static_cast<std::int64_t>(number / 2));
    one.left_out = number % 2 != 0 ? static_cast<std::uint32_t>(in.number()) : before.left_out;
    one.offset = sum(sum(before.offset, before.bytes), in.signed_number());
    one.bytes = sum(before.bytes, in.signed_number());
    before = one;
  }
  return dataset;
}

}  // namespace plait::container::hdf5
