/// NCZarr, the additions of netCDF's library to Zarr's metadata: dimensions that groups define, and references of
/// arrays to these dimensions.
///
/// Their location depends on the version of the library. For the array `g/w` of `lat` and `lon`, of which the group `g`
/// defines `lon`, it writes
///   since 4.9.3   `"_nczarr_array": {"dimension_references": ["/lat", "/g/lon"], ...}` in `g/w/.zattrs`,
///   since 4.8.1   `"_NCZARR_ARRAY"`, later `"_nczarr_array": {"dimrefs": ["/lat", "/g/lon"], ...}` in `g/w/.zarray`,
///   in 4.8.0      `{"dimrefs": ["/lat", "/g/lon"], ...}` in the object `g/w/.nczarray`,
/// and in the same way `"_nczarr_group": {"dimensions": {"lon": 4}, ...}`, before 4.9.3 `"dims"`, for the group `g`. A
/// dimension that may grow has `{"size": 4, "unlimited": 1}` as its length.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "container/content.hpp"
#include "plait/array_description.hpp"
#include "store/objects/object_store.hpp"

namespace plait::container::zarr {

/// The metadata of an array or group: its text, and the object that has it.
struct StoredMetadata {
  std::string_view text;
  store::ObjectStore& objects;
  const std::string& object;
};

/// Returns true for attributes that netCDF's library uses internally and hides from users.
bool is_nczarr_attribute(std::string_view name);

/// Returns the paths of the dimensions of an array, such as `/g/lon`; empty unless the library has stated one for each
/// of the `rank` dimensions.
std::vector<std::string> read_dimension_references(const StoredMetadata& array, const ArrayAttributes& attributes,
                                                   std::size_t rank);
/// Returns the dimensions that a group defines.
std::vector<GroupDimension> read_group_dimensions(const StoredMetadata& group, const ArrayAttributes& attributes);
/// Removes the attributes that netCDF's library uses internally.
void remove_nczarr_attributes(ArrayAttributes& attributes);

/// Sets the names of an array's dimensions to the last parts of their paths, unless the array has names already.
void name_dimensions(Content& array, const std::vector<std::string>& references);
/// Returns the numbers of the dimensions that are unlimited according to the groups that define them.
std::vector<std::int64_t> find_unlimited_dimensions(const std::vector<std::string>& references,
                                                    const std::vector<GroupAttributes>& groups);

}  // namespace plait::container::zarr
