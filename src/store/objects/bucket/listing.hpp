/// Lists of objects in pages.
#pragma once

#include <string>
#include <vector>

#include "store/objects/object_store.hpp"

namespace plait::store::bucket {

struct ListPage {
  std::vector<ListedObject> objects;  ///< with whole keys, and common prefixes, which end with `/`
  std::string next;                   ///< token of the next page; empty on the last page
};

}  // namespace plait::store::bucket
