/// Objects of servers that have the interface of S3: `s3://BUCKET/KEY`.
#pragma once

#include "store/objects/open_objects.hpp"

namespace plait::store::s3 {

/// Returns the kind of these object stores.  threads  Any.
const ObjectStoreKind& kind();

}  // namespace plait::store::s3
