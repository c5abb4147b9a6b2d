/// Object stores by their location.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "store/objects/object_store.hpp"

namespace plait::store {

/// A kind of object store, which URLs name by their scheme.
struct ObjectStoreKind {
  std::string_view scheme;  ///< such as `memory`
  /// Opens the objects at a URL of this scheme, which need not exist.  errors  kArgument: a URL without bucket or key.
  /// kSystem.
  std::shared_ptr<ObjectStore> (*open)(const std::string& url, Sharing sharing);
  /// True if only the process that has put objects finds them.
  bool one_process = false;
  /// The reason why an object may be missing, as a clause; empty: there is none that is special.
  std::string_view missing{};
};

/// All kinds but folders, whose locations are paths.
std::span<const ObjectStoreKind* const> object_store_kinds();
/// Returns the kind of a URL.  errors  kArgument: no kind has this scheme; the text lists the kinds.
const ObjectStoreKind& object_store_kind(std::string_view url);

/// The objects at a location, a URL or the path of a folder, which need not exist.
/// errors  kSystem: the location cannot be examined.  kArgument: a URL that cannot be, or of no known kind.
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
