/// Object stores by their location.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "store/objects/object_store.hpp"

namespace plait::store {

/// The objects at a location, which need not exist.
/// errors  kSystem: the location cannot be examined.
std::shared_ptr<ObjectStore> open_objects(const std::string& location, Sharing sharing);

/// Opens locations that begin with `prefix` in another way as long as this exists: for stores that are tried out.
/// threads  While no thread opens objects.
class AddedObjectStores {
 public:
  using Open = std::function<std::shared_ptr<ObjectStore>(const std::string& location)>;
  AddedObjectStores(std::string prefix, Open open);
  ~AddedObjectStores();
  AddedObjectStores(const AddedObjectStores&) = delete;
  AddedObjectStores& operator=(const AddedObjectStores&) = delete;
};

}  // namespace plait::store
