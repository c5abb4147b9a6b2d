/// Blobs of Azure Blob Storage: `az://CONTAINER/KEY`.
#pragma once

#include "store/objects/open_objects.hpp"

namespace plait::store::azure {

/// Returns the kind of these object stores.  threads  Any.
const ObjectStoreKind& kind();

}  // namespace plait::store::azure
