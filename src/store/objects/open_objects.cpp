#include "store/objects/open_objects.hpp"

#include <utility>
#include <vector>

#include "store/objects/folder/folder_objects.hpp"

namespace plait::store {

namespace {

struct Added {
  std::string prefix;
  AddedObjectStores::Open open;
};

std::vector<Added>& added_stores() {
  static std::vector<Added> added;
  return added;
}

}  // namespace

AddedObjectStores::AddedObjectStores(std::string prefix, Open open) {
  added_stores().push_back({std::move(prefix), std::move(open)});
}

AddedObjectStores::~AddedObjectStores() { added_stores().pop_back(); }

std::shared_ptr<ObjectStore> open_objects(const std::string& location, Sharing sharing) {
  for (const Added& added : added_stores())
    if (location.starts_with(added.prefix)) return added.open(location);
  return std::make_shared<folder::FolderObjects>(location, sharing);
}

}  // namespace plait::store
