/// Attributes in Zarr's metadata: `attributes` of zarr.json, and `.zattrs` next to the metadata of version 2.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "container/format.hpp"
#include "store/objects/object_store.hpp"

namespace plait::container::zarr {

/// Object with the attributes of an array or group of version 2, and object with copies of all metadata below a group.
inline constexpr std::string_view kAttributes2 = ".zattrs";
inline constexpr std::string_view kConsolidated2 = ".zmetadata";
/// Names by which xarray stores the names of dimensions in version 2, and the value of missing elements.
inline constexpr std::string_view kDimensionsAttribute = "_ARRAY_DIMENSIONS";
inline constexpr std::string_view kFillAttribute = "_FillValue";

/// Reads the attributes of an array or a group. content: its metadata, which is in `object`.
/// errors  kSystem: the text is not JSON, or not an object.
ArrayAttributes attributes_in(std::string_view content, store::ObjectStore& objects, const std::string& object);

/// Adds attributes to the description of an array. Some of them describe the array itself: the names of dimensions that
/// xarray stores there in version 2 (`_ARRAY_DIMENSIONS`), and `_FillValue` with the array's type, whose bits xarray
/// writes as a text; in version 2 it is the array's own fill value.
/// content: the metadata of the array.
void take_attributes(Content& found, ArrayAttributes attributes, std::string_view content, const std::string& file);

/// Makes an object with attributes, for json_text(). A `_FillValue` of real numbers is written as xarray writes it.
/// errors  kArgument: JSON does not have a type.
nlohmann::ordered_json attributes_object(const ArrayAttributes& attributes, const std::string& where);

/// Changes attributes of the array in `objects`. All other bytes of its metadata stay, and the object is replaced as a
/// whole.
/// errors  kSystem: the metadata are not JSON, or cannot be written.
void change_attributes(store::ObjectStore& objects, const AttributeChanges& changes);

/// Changes the copies of an object of an array's metadata, such as `.zattrs`, in the groups of version 2 above it. The
/// object is read after each copy, so that the last program to change a copy includes the changes of all programs.
void change_consolidated(store::ObjectStore& array, std::string_view object);

/// True if this object has metadata of version 2.
bool is_second_version(std::string_view object);

}  // namespace plait::container::zarr
