/// Objects of Google Cloud Storage: `gs://BUCKET/KEY`.
#pragma once

#include "store/objects/open_objects.hpp"

namespace plait::store::gs {

/// Returns the kind of these object stores: that of S3, in the dialect of Google's XML API.  threads  Any.
const ObjectStoreKind& kind();

}  // namespace plait::store::gs
