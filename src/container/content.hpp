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

/// An array and its location in a store. Its elements begin at an offset, and are contiguous or in chunks;
/// plan/section/chunks.hpp defines the order of chunks in the store.
struct Content : ArrayDescription {
  std::int64_t data_offset = 0;  ///< offset of the first element or chunk in the store
  /// True if reading or writing a part of a chunk costs as much as the whole chunk, because it is compressed or stored
  /// as a whole.
  bool whole_chunks = false;
  /// The value of elements that are not written, encoded as one element; empty if it is zero or the format states none.
  std::vector<std::byte> fill{};

  Content() = default;
  Content(ArrayType array, std::int64_t offset) : data_offset(offset) { type = std::move(array); }
  /// Returns the offset of the end of the array in the store.  errors  kArgument: it exceeds 2^63 - 1.
  std::int64_t bytes() const;
  bool in_chunks() const { return chunk && !chunk->empty(); }
  /// Returns the shape of a chunk; empty if the array has no chunks.
  Extents chunk_shape() const { return chunk.value_or(Extents()); }
  Extents shard_shape() const { return shard.value_or(Extents()); }
};

/// An array as OpenedFile::arrays() lists it, or an array of a new file.
struct Member : Content {
  /// The value of `stored` for an array whose size in the file is not known, because counting would read too much.
  static constexpr std::int64_t kNotCounted = -1;
  std::string element{};    ///< name of the element type in the format
  std::int64_t stored = 0;  ///< number of bytes that the array occupies in the file, or kNotCounted
  std::string storage{};    ///< kind of storage for listings, such as `contiguous`
  /// Offset in the header of a new file of the field with the array's address, for formats that know the address only
  /// when the file is complete.
  std::int64_t address_field = 0;
  /// The reason why the format's own library reads the elements; empty if Plait reads them.
  std::string library{};
  /// The reason why the array cannot be opened; empty if it can.
  base::Rejection rejection{};
  /// The reason why only the format's own library copies the array, into another file of the format; empty if Plait
  /// copies it, or nothing can.
  std::string copy_reason{};
  /// False for an array that has a name and attributes, but no shape and no elements (a null dataspace of HDF5).
  bool has_elements = true;
};

/// The arrays of a new file, and its first bytes.
struct NewContent : Content {
  std::vector<std::byte> head;
  /// Size of the whole file if something follows the array; otherwise 0.
  std::int64_t file_bytes = 0;
  /// All arrays of a file that holds several under names. The base Content describes the first one.
  std::vector<Member> members{};
  /// Metadata texts of groups, by the names of the groups, for formats of folders.
  std::map<std::string, std::string> groups{};
};

}  // namespace plait::container
