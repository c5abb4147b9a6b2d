/// The description of an array by its metadata and its attributes.
#pragma once

#include <string>
#include <vector>

#include "container/content.hpp"
#include "container/zarr/metadata.hpp"
#include "container/zarr/nczarr.hpp"

namespace plait::container::zarr {

/// Describes an array, without its attributes.
Content found_in(const Metadata& metadata);

/// Describes the attributes of an array, and its dimensions as far as the attributes state them. Returns the paths of
/// the dimensions that netCDF's library has stated.
/// errors  kSystem: the metadata or the attributes are damaged, or cannot be read.
std::vector<std::string> describe_attributes(Content& found, const StoredMetadata& array);

}  // namespace plait::container::zarr
