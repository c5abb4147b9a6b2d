/// Attributes in Zarr's metadata: `attributes` of zarr.json, and `.zattrs` beside the metadata of version 2.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "container/format.hpp"

namespace plait::container::zarr {

/// Of an array or a group.  content: its metadata; file: where that is.
/// errors  kSystem: no JSON, or no object.
ArrayAttributes attributes_in(std::string_view content, const std::string& file);

/// Takes attributes of an array into what is known of it: the names of dimensions that xarray keeps there in version 2
/// (`_ARRAY_DIMENSIONS`), and `_FillValue` with the array's type, of which xarray writes the bits as a text, or in version
/// 2 the array's own fill value.  content: the array's metadata.
void take_attributes(Content& found, ArrayAttributes attributes, std::string_view content, const std::string& file);

/// An object with them, for json_text().  A `_FillValue` of real numbers is written as xarray does.
/// errors  kArgument: types that JSON has not.
nlohmann::ordered_json attributes_object(const ArrayAttributes& attributes, const std::string& where);

/// Changes attributes of the array whose metadata is in `file`; every other byte of that stays, and the file is replaced as
/// a whole.  errors  kSystem: no JSON, or it cannot be written.
void change_attributes(const std::string& file, const AttributeChanges& changes);

}  // namespace plait::container::zarr
