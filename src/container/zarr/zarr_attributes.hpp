/// Attributes in Zarr's metadata: `attributes` of zarr.json, and `.zattrs` beside the metadata of version 2.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "container/format.hpp"
#include "store/objects/object_store.hpp"

namespace plait::container::zarr {

/// Of an array or a group.  content: its metadata, which is in `object`.
/// errors  kSystem: no JSON, or no object.
ArrayAttributes attributes_in(std::string_view content, store::ObjectStore& objects, const std::string& object);

/// Takes attributes of an array into what is known of it: the names of dimensions that xarray keeps there in version 2
/// (`_ARRAY_DIMENSIONS`), and `_FillValue` with the array's type, of which xarray writes the bits as a text, or in version
/// 2 the array's own fill value.  content: the array's metadata.
void take_attributes(Content& found, ArrayAttributes attributes, std::string_view content, const std::string& file);

/// An object with them, for json_text().  A `_FillValue` of real numbers is written as xarray does.
/// errors  kArgument: types that JSON has not.
nlohmann::ordered_json attributes_object(const ArrayAttributes& attributes, const std::string& where);

/// Changes attributes of the array that `objects` hold; every other byte of its metadata stays, and the object is replaced
/// as a whole.  errors  kSystem: no JSON, or it cannot be written.
void change_attributes(store::ObjectStore& objects, const AttributeChanges& changes);

}  // namespace plait::container::zarr
