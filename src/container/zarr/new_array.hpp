/// What a new array's `zarr.json` says (Zarr specification, core 3.0).
#pragma once

#include <string>

#include "container/format.hpp"

namespace plait::container::zarr {

/// Where an array is to be made by nobody's wish, chunks of about so many bytes.
inline constexpr std::int64_t kUsualChunk = std::int64_t{8} << 20;

/// Chunks of at most `bytes`, but of one element at least: contiguous in the array's order as far as can be, and of
/// much the same size.
Extents usual_chunk(const ArrayType& type, std::int64_t bytes = kUsualChunk);

/// The array that `options` describe; its head is the metadata.
/// errors  kArgument: types that Zarr has not, chunks, codecs, fill values and names that do not fit.
NewContent new_array(const std::string& path, const FileOptions& options);

/// The metadata of a group.  errors  kArgument: attributes that JSON has not.
std::string new_group(const ArrayAttributes& attributes, const std::string& where);

}  // namespace plait::container::zarr
