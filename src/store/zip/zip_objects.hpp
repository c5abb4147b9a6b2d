/// The entries of a zip file as a read-only object store.
///
/// The object `c/0/1` of `data.zarr.zip` is the entry `c/0/1` of the file. A location may continue after the name of
/// the zip file as if it were a folder, so that `data.zarr.zip/group` has the objects of the entries `group/...`.
/// Stored entries are read by ranges; deflated entries are decoded as a whole, because chunks are small.
#pragma once

#include <memory>
#include <string>

#include "store/objects/object_store.hpp"
#include "store/zip/archive.hpp"

namespace plait::store::zip {

/// Opens the objects of a location in a zip file. The location must begin with the name of the archive.
std::shared_ptr<ObjectStore> open_objects(const std::string& location, std::shared_ptr<Archive> archive);

}  // namespace plait::store::zip
