// Changing the shape of an array in place.
//
// Problem: a program that is killed while it appends leaves chunks that the shape in the metadata does not cover yet,
// and elements in the last chunk of the array. They are invisible. But if the array is extended later, elements that no
// program has written must read as the fill value.
//
// Idea: append() overwrites every element that becomes visible, so it needs no preparation. resize() lists the objects
// of the array. It removes those outside of the shape, and clears the elements outside of it in chunks that cross its
// end.
// Example: shape (10), chunks of 4. A killed append has left the objects c/3 and c/4, and elements 10 and 11 in c/2.
// clear_outside() removes c/3 and c/4, reads c/2, and writes it with the fill value in elements 10 and 11.

#include "container/zarr/growth/array_shape.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/zarr/chunks/chunk_names.hpp"
#include "container/zarr/document.hpp"
#include "container/zarr/json_member.hpp"
#include "container/zarr/target.hpp"
#include "container/zarr/zarr_attributes.hpp"

namespace plait::container::zarr {

namespace {

constexpr const char* kShape = "shape";
/// Maximum size of the pieces in which a chunk without codecs is cleared.
constexpr std::int64_t kPieceBytes = std::int64_t{4} << 20;

Extents parse_shape(const std::optional<std::string>& content, const std::string& file) {
  if (!content) base::throw_system_error(ENOENT, "cannot change the shape in ", file, ": it has been removed");
  const Document document(*content, file);
  return document.get_extents(document.root(), kShape, 0);
}

/// Parses the name of an object, such as `c/1/0`, and returns its index in the grid of chunks or shards; nothing if the
/// name is not that of a chunk or shard.
std::optional<Extents> parse_object_index(const Metadata& metadata, std::string_view name) {
  if (!name.starts_with(metadata.prefix)) return std::nullopt;
  name.remove_prefix(metadata.prefix.size());
  Extents index;
  while (true) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc() || number < 0) return std::nullopt;
    index.push_back(number);
    name.remove_prefix(static_cast<std::size_t>(end - name.data()));
    if (name.empty()) break;
    if (name.front() != metadata.separator) return std::nullopt;
    name.remove_prefix(1);
  }
  if (index.size() != metadata.grid.size()) return std::nullopt;
  return index;
}

/// Returns true if an object has elements inside of `shape`: in each dimension it begins before the end.
bool has_elements_inside(const Metadata& metadata, const Extents& index, const Extents& shape) {
  for (std::size_t d = 0; d < index.size(); ++d)
    if (index[d] >= base::ceil_divide(shape[d], metadata.object_shape()[d])) return false;
  return true;
}

/// Removes the objects outside of `shape`. Calls `visit` with the index of each of the others.
template <typename Visit>
void remove_outside_and_visit_others(ChunkStore& chunks, const Extents& shape, Visit&& visit) {
  const Metadata& metadata = chunks.metadata();
  std::vector<std::string> outside;
  std::vector<Extents> inside;
  chunks.objects().list({}, store::ListDepth::kAll, [&](const store::ListedObject& object) {
    std::optional<Extents> index = parse_object_index(metadata, object.name);
    if (!index) return;
    if (has_elements_inside(metadata, *index, shape))
      inside.push_back(std::move(*index));
    else
      outside.push_back(object.name);
  });
  chunks.objects().remove_all(outside);
  for (const Extents& index : inside) visit(index);
}

/// Clears the elements of chunks outside of the array.
class ChunkCleaner {
 public:
  explicit ChunkCleaner(ChunkStore& chunks) : chunks_(chunks), metadata_(chunks.metadata()) {
    const std::int64_t element = metadata_.type.element_bytes;
    piece_ = changes_in_place(metadata_, chunks.objects())
                 ? std::min(metadata_.chunk_bytes, std::max(kPieceBytes / element, std::int64_t{1}) * element)
                 : metadata_.chunk_bytes;
  }

  /// Clears a chunk that begins at element `begin` of the array.
  void clear(std::int64_t number, const Extents& begin) {
    if (chunks_.bytes_inside(number) == metadata_.chunk_bytes) return;
    if (!buffer_) buffer_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(piece_));
    for (std::int64_t offset = 0; offset < metadata_.chunk_bytes; offset += piece_) {
      const std::int64_t bytes = std::min(piece_, metadata_.chunk_bytes - offset);
      chunks_.read_segments(
          std::vector<store::ReadSegment>{{number * metadata_.chunk_bytes + offset, buffer_.get(), bytes}});
      if (clear_piece(begin, offset, bytes)) chunks_.write_chunk(number, {{offset, buffer_.get(), bytes}});
    }
  }

 private:
  /// Clears the elements of a piece that are outside of the array, row by row of the fastest dimension. Returns true if
  /// an element has changed.
  bool clear_piece(const Extents& begin, std::int64_t offset, std::int64_t bytes) {
    const Extents& shape = metadata_.type.shape;
    const std::int64_t element = metadata_.type.element_bytes;
    const std::size_t fastest = metadata_.type.order == Order::kC ? shape.size() - 1 : 0;
    bool is_changed = false;
    for (std::int64_t at = 0; at < bytes;) {
      const Extents index = to_index((offset + at) / element, metadata_.chunk, metadata_.type.order);
      const std::int64_t row_bytes = std::min((metadata_.chunk[fastest] - index[fastest]) * element, bytes - at);
      std::int64_t inside = shape[fastest] - begin[fastest] - index[fastest];  // elements of the row in the array
      for (std::size_t d = 0; d < index.size(); ++d)
        if (d != fastest && begin[d] + index[d] >= shape[d]) inside = 0;
      const std::int64_t visible = std::clamp<std::int64_t>(inside, 0, row_bytes / element) * element;
      is_changed = clear_elements(at + visible, at + row_bytes) || is_changed;
      at += row_bytes;
    }
    return is_changed;
  }
  /// Gives the elements in a range of the buffer the fill value. Returns true if one has changed.
  bool clear_elements(std::int64_t begin, std::int64_t end) {
    const auto element = static_cast<std::size_t>(metadata_.type.element_bytes);
    bool is_changed = false;
    for (std::int64_t at = begin; at < end; at += metadata_.type.element_bytes) {
      if (std::memcmp(buffer_.get() + at, metadata_.fill.data(), element) == 0) continue;
      std::memcpy(buffer_.get() + at, metadata_.fill.data(), element);
      is_changed = true;
    }
    return is_changed;
  }

  ChunkStore& chunks_;
  const Metadata& metadata_;
  std::int64_t piece_;
  std::unique_ptr<std::byte[]> buffer_;
};

void clear_chunks_outside(ChunkStore& chunks) {
  const Metadata& metadata = chunks.metadata();
  ChunkCleaner cleaner(chunks);
  remove_outside_and_visit_others(chunks, metadata.type.shape, [&](const Extents& index) {
    const std::int64_t object = to_number(index, metadata.grid, metadata.type.order);
    Extents begin;
    for (std::size_t d = 0; d < index.size(); ++d) begin.push_back(index[d] * metadata.object_shape()[d]);
    if (!metadata.shards) return cleaner.clear(object, begin);
    for (std::int64_t inside = 0; inside < metadata.shards->count; ++inside) {
      const Extents in_shard = to_index(inside, metadata.shards->chunks, metadata.type.order);
      Extents chunk = begin;
      for (std::size_t d = 0; d < chunk.size(); ++d) chunk[d] += in_shard[d] * metadata.chunk[d];
      cleaner.clear(object * metadata.shards->count + inside, chunk);
    }
  });
  chunks.flush();
}

}  // namespace

Extents read_shape(store::ObjectStore& objects) {
  const std::string object = metadata_object(objects, {});
  const std::optional<StoredText> found = read_text(objects, object);
  return parse_shape(found ? std::optional(found->text) : std::nullopt, objects.object_location(object));
}

void change_shape(store::ObjectStore& objects, const Extents& from, const Extents& to) {
  const std::string object = metadata_object(objects, {});
  const std::string file = objects.object_location(object);
  // Drop consolidated metadata first: if this process is killed, copies of the former shape must not hide the new one.
  if (!is_version_2(object)) remove_parent_copies(objects.name());
  change_text(objects, object, [&](const std::optional<std::string>& text) -> std::optional<std::string> {
    const Extents present = parse_shape(text, file);
    if (present != from)
      base::throw_system_error(EBUSY, "cannot change the shape of ", objects.name(), " from ", shape_to_string(from),
                               " to ", shape_to_string(to), ": another program has changed it to ",
                               shape_to_string(present), " meanwhile; open the array again, and append again");
    return set_member(*text, kShape, nlohmann::json(to).dump());
  });
  // Closing a new array gives its folder another name, so that nothing temporary may stay in it.
  objects.end_writes();
  if (is_version_2(object)) update_consolidated(objects, object);
}

void remove_outside(ChunkStore& chunks, const Extents& shape) {
  remove_outside_and_visit_others(chunks, shape, [](const Extents& /*index*/) {});
}

void clear_outside(ChunkStore& chunks) {
  try {
    clear_chunks_outside(chunks);
  } catch (...) {
    chunks.discard_buffered();  // otherwise the next write would put them
    throw;
  }
}

}  // namespace plait::container::zarr
