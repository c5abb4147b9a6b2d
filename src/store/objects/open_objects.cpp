#include "store/objects/open_objects.hpp"

#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/nearest.hpp"
#include "base/text.hpp"
#include "store/cache/cached_objects.hpp"
#include "store/objects/azure/azure_objects.hpp"
#include "store/objects/folder/folder_objects.hpp"
#include "store/objects/gs/gs_objects.hpp"
#include "store/objects/memory/buckets.hpp"
#include "store/objects/object_url.hpp"
#include "store/objects/s3/s3_objects.hpp"
#include "store/objects/web/http_objects.hpp"
#include "store/objects/web/web_url.hpp"
#include "store/zip/remote_archives.hpp"
#include "store/zip/zip_objects.hpp"

namespace plait::store {

namespace {

struct Registration {
  std::string prefix;
  AddedObjectStores::OpenFunction open;
};

std::vector<Registration>& added_stores() {
  static std::vector<Registration> added;
  return added;
}

}  // namespace

AddedObjectStores::AddedObjectStores(std::string prefix, OpenFunction open) {
  added_stores().push_back({std::move(prefix), std::move(open)});
}

AddedObjectStores::~AddedObjectStores() { added_stores().pop_back(); }

std::span<const ObjectStoreKind* const> object_store_kinds() {
  static const ObjectStoreKind* const kKinds[] = {&memory::kind(), &s3::kind(),       &gs::kind(),
                                                  &azure::kind(),  &web::http_kind(), &web::https_kind()};
  return kKinds;
}

const ObjectStoreKind& object_store_kind(std::string_view url) {
  const std::string_view scheme = url_scheme(url);
  for (const ObjectStoreKind* kind : object_store_kinds())
    if (kind->scheme == scheme) return *kind;
  std::vector<std::string_view> known;
  for (const ObjectStoreKind* kind : object_store_kinds()) known.push_back(kind->scheme);
  base::throw_argument_error(url, " is a URL, but Plait has no object store for ", scheme,
                             "://; the schemes that it knows: ", base::list_text(known),
                             "; give a URL with one of these, the path of a file, or ./", url,
                             " for a file of that name");
}

std::string object_id(const std::string& url) {
  const auto id = object_store_kind(url).id;
  return id == nullptr ? url : id(url);
}

std::string canonical_name(const std::string& name) {
  if (name.find('?') == std::string::npos) return name;
  for (const ObjectStoreKind* kind : object_store_kinds()) {
    // The name of a format may precede the URL, as in `zarr:s3://bucket/data`.
    const std::string begin = base::text(kind->scheme, "://");
    const std::size_t at = name.find(begin);
    if (kind->has_options && at != std::string::npos && (at == 0 || (name[at - 1] == ':' && at == name.find(':') + 1)))
      return web::with_options_first(name);
  }
  return name;
}

std::shared_ptr<ObjectStore> open_objects(const std::string& location, Sharing sharing) {
  for (const Registration& added : added_stores())
    if (location.starts_with(added.prefix)) return added.open(location);
  if (is_url(location)) {
    const std::string canonical = canonical_name(location);
    const ObjectStoreKind& kind = object_store_kind(canonical);
    if (kind.whole_objects)
      if (std::shared_ptr<zip::Archive> archive = zip::find_remote(canonical, zip::Validation::kRecent))
        return zip::open_objects(canonical, std::move(archive));
    std::shared_ptr<ObjectStore> objects = kind.open(canonical, sharing);
    return sharing == Sharing::kShared ? cache::with_cache(canonical, std::move(objects)) : objects;
  }
  if (const std::string archive = zip::archive_path(location); !archive.empty())
    return zip::open_objects(location, std::make_shared<zip::Archive>(archive));
  return std::make_shared<folder::FolderObjects>(location, sharing);
}

}  // namespace plait::store
