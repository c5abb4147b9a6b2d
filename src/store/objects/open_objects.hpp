/// Opening object stores by their location.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/objects/object_store.hpp"
#include "store/objects/object_upload.hpp"

namespace plait::store {

/// A kind of object store, identified by the scheme of its URLs.
struct ObjectStoreKind {
  std::string_view scheme;  ///< scheme such as `memory`
  /// Opens the objects at a URL of this scheme, which need not exist.
  /// errors  kArgument: the URL has no bucket or key. kSystem.
  std::shared_ptr<ObjectStore> (*open)(const std::string& url, Sharing sharing);
  /// True if only the process that has put objects finds them.
  bool one_process = false;
  /// The usual reason for a missing object, as a clause; may be empty.
  std::string_view missing{};
  bool has_options = false;    ///< URLs may have options after a `?`
  bool whole_objects = false;  ///< objects of formats that are one file are read by ranges
  bool writable = true;
  /// Makes an upload of an object at a location; nullptr: only formats of several objects are written.
  /// errors  Those of open(). kSystem: the server does not check conditions.
  std::unique_ptr<ObjectUpload> (*upload)(const std::string& location, const std::string& object) = nullptr;
  /// Returns a text for the object at a URL that is the same for all its URLs: its server, bucket and key; nullptr: it
  /// is the URL itself.
  /// errors  kArgument.
  std::string (*id)(const std::string& url) = nullptr;
  /// Returns the unfinished uploads of the object at a URL and of all objects below it; nullptr: the server does not
  /// list them.
  /// errors  kArgument.
  std::unique_ptr<UnfinishedUploads> (*unfinished)(const std::string& url) = nullptr;
};

/// Returns all kinds except folders, whose locations are paths.
std::span<const ObjectStoreKind* const> object_store_kinds();
/// Returns the kind of a URL.  errors  kArgument: no kind has this scheme; the text lists the kinds.
const ObjectStoreKind& object_store_kind(std::string_view url);

/// Returns a text that is the same for all URLs of an object, whatever their options.  errors  kArgument.
std::string object_id(const std::string& url);

/// Returns the form of a name in which locations are composed: if it is a URL with options, these are before the key
/// (web/web_url.hpp). All other names are returned unchanged.
std::string canonical_name(const std::string& name);

/// Opens the objects at a location, a URL or the path of a folder, which need not exist. A zip file is read like a
/// folder, also in the middle of a path.
/// errors  kSystem: the location cannot be examined.  kArgument: the URL is invalid, or of no known kind.
std::shared_ptr<ObjectStore> open_objects(const std::string& location, Sharing sharing);

/// Opens locations that begin with `prefix` by another function while this object exists. It serves tests of stores.
/// threads  Only while no thread opens objects.
class AddedObjectStores {
 public:
  using OpenFunction = std::function<std::shared_ptr<ObjectStore>(const std::string& location)>;
  AddedObjectStores(std::string prefix, OpenFunction open);
  ~AddedObjectStores();
  AddedObjectStores(const AddedObjectStores&) = delete;
  AddedObjectStores& operator=(const AddedObjectStores&) = delete;
};

}  // namespace plait::store
