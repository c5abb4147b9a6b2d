/// Objects of plain HTTP servers: `http://HOST/PATH` and `https://HOST/PATH`. They are read only.
#pragma once

#include "store/objects/open_objects.hpp"

namespace plait::store::web {

/// Returns the kinds of these object stores.  threads  Any.
const ObjectStoreKind& http_kind();
const ObjectStoreKind& https_kind();

}  // namespace plait::store::web
