/// Uploads of blobs in blocks.
#pragma once

#include <memory>
#include <string>

#include "store/objects/azure/container.hpp"
#include "store/objects/object_upload.hpp"

namespace plait::store::azure {

/// Makes an upload of a blob at a location in a container.
/// errors  kSystem: the server does not check conditions.
std::unique_ptr<ObjectUpload> make_upload(const std::string& location, const std::string& object,
                                          std::shared_ptr<Container> container);

}  // namespace plait::store::azure
