/// Objects on servers whose bytes are cached on a local disk.
#pragma once

#include <memory>
#include <string>

#include "store/objects/object_store.hpp"

namespace plait::store::cache {

/// Returns a store that reads `objects` through a cache, which the options in `location` or else the environment
/// configure. Returns `objects` itself if neither configures one, if the objects are not on a server, or if the disk of
/// the cache is full.
/// errors  Those of find_options() and Folder::open().
std::shared_ptr<ObjectStore> with_cache(const std::string& location, std::shared_ptr<ObjectStore> objects);

}  // namespace plait::store::cache
