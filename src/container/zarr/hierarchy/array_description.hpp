/// The description of an array by its metadata and its attributes.
#pragma once

#include <string>
#include <vector>

#include "container/content.hpp"
#include "container/zarr/metadata.hpp"
#include "container/zarr/nczarr.hpp"

namespace plait::container::zarr {

/// Converts the metadata of an array to its description, without attributes.
Content make_content(const Metadata& metadata);

/// Adds the attributes of an array, and the names of dimensions that they state, to `content`. Returns the paths of
/// the dimensions that netCDF's library has stated.
/// errors  kSystem: the metadata or the attributes are damaged, or cannot be read.
std::vector<std::string> add_attributes(Content& content, const StoredMetadata& array);

}  // namespace plait::container::zarr
