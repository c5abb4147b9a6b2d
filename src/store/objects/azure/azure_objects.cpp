#include "store/objects/azure/azure_objects.hpp"

#include <memory>
#include <string>

#include "store/objects/azure/azure_upload.hpp"
#include "store/objects/bucket/bucket_objects.hpp"

namespace plait::store::azure {

namespace {

std::shared_ptr<ObjectStore> open(const std::string& url, Sharing sharing) {
  return bucket::open_objects(url, std::make_shared<Container>(resolve_configuration(url)), sharing);
}

std::unique_ptr<ObjectUpload> upload(const std::string& location, const std::string& object) {
  return make_upload(location, object, std::make_shared<Container>(resolve_configuration(location)));
}

}  // namespace

const ObjectStoreKind& kind() {
  static constexpr ObjectStoreKind kKind{
      .scheme = "az", .open = open, .has_options = true, .whole_objects = true, .upload = upload, .id = object_id};
  return kKind;
}

}  // namespace plait::store::azure
