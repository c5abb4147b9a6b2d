// https://cloud.google.com/storage/docs/xml-api/overview
//
// Conditions of puts compare generations. The documentation of uploads in parts names no condition for their
// completion, so that the generation is compared before it as well (s3_upload.cpp).

#include "store/objects/gs/gs_objects.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "store/objects/bucket/bucket_objects.hpp"
#include "store/objects/gs/google_credentials.hpp"
#include "store/objects/s3/credentials/profile.hpp"
#include "store/objects/s3/s3_upload.hpp"
#include "store/objects/s3/unfinished_uploads.hpp"

namespace plait::store::gs {

namespace {

constexpr std::array<std::string_view, 4> kOptions{"endpoint", "anonymous", "conditions", "project"};

/// Returns the URL of the server that emulates Google's, as its other clients find it; empty if there is none.
std::string emulator() {
  const std::string host = s3::environment("STORAGE_EMULATOR_HOST");
  return host.empty() || host.find("://") != std::string::npos ? host : base::text("http://", host);
}

std::string resolve_endpoint(const web::WebUrl& url, const std::string& location) {
  return s3::checked_endpoint(
      s3::first_stated(s3::option(url, "endpoint"), emulator(), std::string("https://storage.googleapis.com")),
      location);
}

s3::Configuration resolve_configuration(const std::string& location) {
  const web::WebUrl url = web::parse_web_url(location);
  s3::check_url(url, location, kOptions);
  s3::Configuration made;
  made.dialect = &s3::kGoogle;
  made.bucket = url.authority;
  made.endpoint = resolve_endpoint(url, location);
  made.region = "auto";
  made.conditions = s3::flag(url, location, "conditions", true);
  const std::string project =
      s3::first_stated(s3::option(url, "project"), s3::environment("GOOGLE_CLOUD_QUOTA_PROJECT"));
  if (!project.empty()) made.added.push_back({"x-goog-user-project", project});
  if (!s3::flag(url, location, "anonymous", false)) {
    made.keys = find_credentials(location);
    if (made.keys->current()->access_key.empty()) s3::check_private(made.endpoint, location);
  }
  return made;
}

std::shared_ptr<s3::Bucket> make_bucket(const std::string& url) {
  return std::make_shared<s3::Bucket>(resolve_configuration(url));
}

std::shared_ptr<ObjectStore> open(const std::string& url, Sharing sharing) {
  return bucket::open_objects(url, make_bucket(url), sharing);
}

std::unique_ptr<ObjectUpload> upload(const std::string& location, const std::string& object) {
  return s3::make_upload(location, object, make_bucket(location));
}

std::string id(const std::string& url) {
  const web::WebUrl parsed = web::parse_web_url(url);
  return base::text("gs://", resolve_endpoint(parsed, url), '/', parsed.authority, '/', parsed.key);
}

std::unique_ptr<UnfinishedUploads> unfinished(const std::string& url) {
  return s3::make_unfinished_uploads(make_bucket(url), web::parse_web_url(url).key);
}

}  // namespace

const ObjectStoreKind& kind() {
  static constexpr ObjectStoreKind kKind{.scheme = "gs",
                                         .open = open,
                                         .has_options = true,
                                         .whole_objects = true,
                                         .upload = upload,
                                         .id = id,
                                         .unfinished = unfinished};
  return kKind;
}

}  // namespace plait::store::gs
