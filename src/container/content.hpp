/// Values that describe the content of array files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "plait/array_description.hpp"

namespace plait::container {

/// An array, and where it lies: from an offset on, as a whole or chunk by chunk, as plan/section/chunks.hpp says.
struct Content : ArrayDescription {
  std::int64_t data_offset = 0;
  /// Whether a part of a chunk costs as much as all of it, because it is compressed as a whole.
  bool packed = false;
  /// The value of elements that are not written, as an element; empty: zero, or the format does not say.
  std::vector<std::byte> fill{};

  Content() = default;
  Content(ArrayType array, std::int64_t offset) : data_offset(offset) { type = std::move(array); }
  /// The bytes up to the end of the array.  errors  kArgument: more than 2^63 - 1.
  std::int64_t bytes() const;
  bool in_chunks() const { return chunk && !chunk->empty(); }
  /// The shapes as plans need them; empty: the array has no chunks or shards.
  Extents chunk_shape() const { return chunk.value_or(Extents()); }
  Extents shard_shape() const { return shard.value_or(Extents()); }
};

/// An array in the listing of a file.
struct Member : Content {
  std::string element{};    ///< what the format calls the type of its elements
  std::int64_t stored = 0;  ///< bytes that the array takes in the file
  std::string storage{};    ///< how they are stored, for people: `contiguous`
  /// The position in the header of a new file at which the offset of the array is written, in formats that know it only
  /// at the end.
  std::int64_t address_field = 0;
  /// Why it cannot be opened.
  base::Rejection rejection{};
  /// False for an array that has a name and attributes, but no shape and no elements (a null dataspace of HDF5).
  bool has_elements = true;
};

/// The arrays of a new file, and the bytes that it begins with.
struct NewContent : Content {
  std::vector<std::byte> head;
  /// Of the whole file where something follows the array; else 0.
  std::int64_t file_bytes = 0;
  /// All arrays of a file that holds several by their names; this content is that of the first.
  std::vector<Member> members{};
  /// Texts of the metadata of groups, by the names of these, of a format of folders.
  std::map<std::string, std::string> groups{};
};

}  // namespace plait::container
