/// What array files hold, as values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "plait/array_attribute.hpp"
#include "plait/file_options.hpp"

namespace plait::container {

/// An array and where it lies: from an offset on, as a whole or chunk by chunk.
struct Content {
  ArrayType type;
  std::int64_t data_offset = 0;
  /// The shape of the chunks, which lie as plan/access/chunks.hpp says; empty: there are none.
  Extents chunk{};
  /// The shape of the shards that these lie in, a file of many chunks each; empty: there are none.
  Extents shard{};
  /// One for each dimension, empty where it has none; or none at all.
  std::vector<std::string> dimension_names{};
  /// Whether a part of a chunk costs as much as all of it, because it is packed as a whole.
  bool packed = false;
  /// What elements have that nobody has written, as an element; empty: zero, or the format does not say.
  std::vector<std::byte> fill{};
  ArrayAttributes attributes{};
  /// The numbers of the dimensions that may grow, ascending.
  std::vector<std::int64_t> unlimited{};
  /// Of the whole file.  errors  kArgument: more than 2^63 - 1.
  std::int64_t bytes() const;
};

/// An array of a file that holds several, each under a name.
struct Member {
  std::string name;
  Content content;
  std::string element;      ///< what the format calls the type of its elements
  std::int64_t stored = 0;  ///< bytes that the array takes in the file
  std::string kept;         ///< how they are kept there, in words
  std::string codec{};      ///< of a new file: how its chunks are packed, as FileOptions say
  /// Of a new file: where in its head the place of the array is to be told, for formats that know it only at the end.
  std::int64_t told_at = 0;
  /// Why it cannot be opened; empty: it can.
  std::string refused{};
  /// False for an array that has a name and attributes, but no shape and no elements (a null dataspace of HDF5).
  bool has_elements = true;
};

/// What a new file will hold, and the bytes that it begins with.
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
