/// Objects on servers whose bytes are cached on a local disk.
#pragma once

#include <memory>
#include <string>

#include "store/objects/object_store.hpp"

namespace plait::store::cache {

/// Returns a store that reads objects through the cache that the options of their location or the environment state.
/// Returns `objects` itself if no cache is stated, if the objects are not on a server, or if the disk of the cache is
/// full.
/// errors  Those of find_options() and Folder::open().
std::shared_ptr<ObjectStore> with_cache(const std::string& location, std::shared_ptr<ObjectStore> objects);

}  // namespace plait::store::cache
