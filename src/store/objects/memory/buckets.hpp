/// Buckets in the memory of this process: `memory://BUCKET/KEY`.
#pragma once

#include "store/objects/open_objects.hpp"

namespace plait::store::memory {

/// Returns the kind of these object stores. A bucket exists from its first use until the process ends. Objects are
/// replaced as a whole, as in a network. A process that fork() makes begins without buckets.
/// threads  Any.
const ObjectStoreKind& kind();

}  // namespace plait::store::memory
