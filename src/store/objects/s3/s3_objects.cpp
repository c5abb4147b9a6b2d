#include "store/objects/s3/s3_objects.hpp"

#include <memory>
#include <string>

#include "base/text.hpp"
#include "store/objects/bucket/bucket_objects.hpp"
#include "store/objects/s3/s3_upload.hpp"
#include "store/objects/s3/unfinished_uploads.hpp"

namespace plait::store::s3 {

namespace {

std::shared_ptr<Bucket> make_bucket(const std::string& url) {
  return std::make_shared<Bucket>(resolve_configuration(web::parse_web_url(url), url));
}

std::shared_ptr<ObjectStore> open(const std::string& url, Sharing sharing) {
  return bucket::open_objects(url, make_bucket(url), sharing);
}

std::unique_ptr<ObjectUpload> upload(const std::string& location, const std::string& object) {
  return make_upload(location, object, make_bucket(location));
}

std::string id(const std::string& url) {
  const web::WebUrl parsed = web::parse_web_url(url);
  return base::text("s3://", resolve_endpoint(parsed, url), '/', parsed.authority, '/', parsed.key);
}

std::unique_ptr<UnfinishedUploads> unfinished(const std::string& url) {
  return make_unfinished_uploads(make_bucket(url), web::parse_web_url(url).key);
}

}  // namespace

const ObjectStoreKind& kind() {
  static constexpr ObjectStoreKind kKind{.scheme = "s3",
                                         .open = open,
                                         .has_options = true,
                                         .whole_objects = true,
                                         .upload = upload,
                                         .id = id,
                                         .unfinished = unfinished};
  return kKind;
}

}  // namespace plait::store::s3
