/// The metadata of a new array: `zarr.json` of version 3, or `.zarray` and `.zattrs` of version 2.
#pragma once

#include <cstdint>
#include <string>

#include "container/format.hpp"

namespace plait::container::zarr {

/// Size of a chunk in bytes, if the caller states no chunks.
inline constexpr std::int64_t kDefaultChunkBytes = std::int64_t{8} << 20;

/// Returns the shape of chunks of at most `bytes`, but of at least one element. Chunks are contiguous in the order of
/// the array as far as possible, and have nearly equal sizes.
/// Example: (10000, 3000) elements of 8 bytes in order C. 8 MiB are 1,048,576 elements, so that a chunk may have 349
/// rows. That makes 29 chunks, which are balanced: 345 rows each, and 340 in the last one.
Extents default_chunk(const ArrayType& type, std::int64_t bytes = kDefaultChunkBytes);

enum class Version : std::uint8_t { k2, k3 };

/// Returns the array that `options` describe. Its `head` is the metadata file; its `groups` are the metadata of groups.
/// In version 2 `groups` has the texts of `.zattrs`, of groups and of the array itself.
/// errors  kArgument: Zarr does not have the type; chunks, codecs, fill values or names do not fit.
NewContent new_array(const std::string& path, const FileOptions& options, Version version = Version::k3);

/// Makes the metadata of a group, or its `.zattrs`.  errors  kArgument: JSON does not have the type of an attribute.
std::string make_group_metadata(const ArrayAttributes& attributes, const std::string& where,
                                Version version = Version::k3);

}  // namespace plait::container::zarr
