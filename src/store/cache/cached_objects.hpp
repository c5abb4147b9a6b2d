/// Objects on servers whose bytes are cached on a local disk.
#pragma once

#include <memory>
#include <string>

#include "store/objects/object_store.hpp"

namespace plait::store::cache {

/// Returns a store that reads objects from the cache that the options of their location or the environment state, and
/// from `objects` if the cache does not have them; returns `objects` if no cache is stated, or if it is not that of
/// objects on a server.
/// errors  Those of find_options() and Folder::open().
std::shared_ptr<ObjectStore> with_cache(const std::string& location, std::shared_ptr<ObjectStore> objects);

}  // namespace plait::store::cache
