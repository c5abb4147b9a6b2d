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
/// Attributes in which xarray stores the names of dimensions in version 2, and the value that stands for missing
/// elements.
inline constexpr std::string_view kDimensionsAttribute = "_ARRAY_DIMENSIONS";
inline constexpr std::string_view kFillAttribute = "_FillValue";

/// Reads the attributes of an array or a group. content: its metadata, which is in `object`.
/// errors  kSystem: the text is not JSON, or not an object.
ArrayAttributes read_attributes(std::string_view content, store::ObjectStore& objects, const std::string& object);

/// Adds attributes to the description of an array. Two attributes of xarray get special treatment. In version 2
/// `_ARRAY_DIMENSIONS` becomes the names of the dimensions. `_FillValue` gets the array's type: xarray writes the bits
/// of a real number as a text, and in version 2 uses the array's own fill value instead.
/// metadata: the text of the array's metadata file `file`.
void apply_attributes(Content& array, ArrayAttributes attributes, std::string_view metadata, const std::string& file);

/// Makes a JSON object with attributes, for json_text(). A `_FillValue` of real numbers gets the form that xarray
/// writes.
/// errors  kArgument: JSON does not have a type.
nlohmann::ordered_json make_attributes_object(const ArrayAttributes& attributes, const std::string& where);

/// Changes attributes of the array in `objects`. All other bytes of its metadata stay the same. The metadata object is
/// replaced as a whole.
/// errors  kSystem: the metadata are not JSON, or cannot be written.
void change_attributes(store::ObjectStore& objects, const AttributeChanges& changes);

/// Updates the copies that groups of version 2 above an array have of one of its metadata objects, such as `.zattrs`.
/// The object is read anew for each change of a copy, so that the last program to change a copy includes the changes of
/// all programs.
void update_consolidated(store::ObjectStore& array, std::string_view object);

/// Returns true if an object of this name has metadata of version 2.
bool is_version_2(std::string_view object);

}  // namespace plait::container::zarr
