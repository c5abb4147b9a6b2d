#include "store/objects/s3/bucket.hpp"

#include <algorithm>
#include <utility>

#include "base/process.hpp"
#include "base/text.hpp"
#include "store/objects/bucket/xml_text.hpp"
#include "store/objects/s3/listing.hpp"
#include "store/objects/s3/part_tags.hpp"

namespace plait::store::s3 {

namespace {

using base::text;
using bucket::xml_text;

/// Characters of keys that stay as they are, besides unreserved ones.
constexpr std::string_view kKeyCharacters = "/";

/// Regions of buckets that answers have stated, by Bucket::id().
struct LearntRegions {
  std::mutex mutex;
  std::map<std::string, std::string> regions;
};

LearntRegions& learnt_regions() {
  static base::PerProcess<LearntRegions> regions;
  return regions.get();
}

/// Replaces the region in the URL of a request to AWS: it was not known when the request was made.
void replace_region(std::string& url, const std::string& region) {
  const std::size_t end = url.find(".amazonaws.com");
  const std::size_t begin = url.rfind("s3.", end) + 3;
  url.replace(begin, end - begin, region);
}

}  // namespace

Bucket::Bucket(Configuration configuration) : configuration_(std::move(configuration)) {}

std::string Bucket::id() const { return text(configuration_.endpoint, '/', configuration_.bucket); }

std::string Bucket::region() const {
  LearntRegions& learnt = learnt_regions();
  const std::scoped_lock lock(learnt.mutex);
  const auto found = learnt.regions.find(id());
  return found == learnt.regions.end() ? configuration_.region : found->second;
}

std::string Bucket::list_url(const std::string& prefix, ListDepth depth, const std::string& next) const {
  return text(url(""), '?', list_query(prefix, depth, next));
}

bucket::ListPage Bucket::parse_page(std::string_view document, const std::string& where) const {
  return s3::parse_page(document, where);
}

bool Bucket::has_bytes(std::string_view tag, std::span<const std::byte> bytes) const { return is_md5_tag(tag, bytes); }

void Bucket::add_content_headers(http::Request& request, const std::string& write) const {
  bucket::Bucket::add_content_headers(request, write);
  // Google answers reads of public objects from a cache otherwise, for an hour.
  if (configuration_.dialect->has_generations) request.headers.push_back({"Cache-Control", "no-store"});
}

void Bucket::add_put_headers(http::Request& request, std::span<const std::byte> bytes) const {
  request.headers.push_back({header("content-sha256"), sha256_hex(bytes)});
}

std::string Bucket::url(const std::string& key) const {
  const std::string& bucket = configuration_.bucket;
  std::string server = configuration_.endpoint;
  if (server.empty()) server = text("https://s3.", region(), ".amazonaws.com");
  const std::string path = http::percent_encoded(key, kKeyCharacters);
  if (!configuration_.virtual_host) return text(server, '/', bucket, path.empty() ? "" : "/", path);
  const std::size_t host = server.find("://") + 3;
  return text(server.substr(0, host), bucket, '.', server.substr(host), '/', path);
}

std::string Bucket::header(std::string_view name) const { return text(configuration_.dialect->headers, name); }

http::Header Bucket::put_condition(const ObjectIdentity& condition) const {
  if (configuration_.dialect->has_generations)
    return {header("if-generation-match"), std::to_string(condition.numbers[0])};
  if (condition == ObjectIdentity{}) return {"If-None-Match", "*"};
  return {"If-Match", condition.tag};
}

bool Bucket::compares(const ObjectIdentity& identity) const {
  return configuration_.dialect->has_generations ? identity.numbers[0] > 0 : web::is_strong(identity);
}

http::Adapter* Bucket::adapter() {
  // Not in prepare(): that runs on the client's thread, which sends the requests for new keys.
  if (configuration_.keys != nullptr) configuration_.keys->renew();
  return this;
}

http::Request Bucket::prepare(const http::Request& request, std::int64_t seconds) {
  http::Request made = request;
  made.region = region();
  if (configuration_.endpoint.empty()) replace_region(made.url, made.region);
  made.headers.insert(made.headers.end(), configuration_.added.begin(), configuration_.added.end());
  if (configuration_.keys == nullptr) return made;
  const std::shared_ptr<const Credentials> keys = configuration_.keys->current();
  if (keys->access_key.empty()) {
    made.headers.push_back({"Authorization", text("Bearer ", keys->session_token)});
    return made;
  }
  const std::string hash = header("content-sha256");
  if (std::ranges::find(made.headers, hash, &http::Header::name) == made.headers.end())
    made.headers.push_back({hash, std::string(kEmptyHash)});
  sign(made, *keys, {made.region, seconds, *configuration_.dialect});
  return made;
}

bool Bucket::learn(const http::Call& call) {
  const http::Response& response = call.response;
  if (response.status != 301 && response.status != 307 && response.status != 400 && response.status != 403)
    return false;
  std::string stated(response.header("x-amz-bucket-region"));
  if (stated.empty() && response.text.find("AuthorizationHeaderMalformed") != std::string::npos)
    stated = xml_text(response.text, "Region");
  // Many requests may be in flight with the former region when the first answer states the right one.
  if (stated.empty() || stated == call.region) return false;
  LearntRegions& learnt = learnt_regions();
  const std::scoped_lock lock(learnt.mutex);
  learnt.regions[id()] = stated;
  return true;
}

std::string Bucket::explain(const http::Response& response) const {
  const std::string code = xml_text(response.text, "Code");
  if (code.empty()) return {};
  const std::string message = xml_text(response.text, "Message");
  return text(" (", code, message.empty() ? "" : ": ", message, ')');
}

std::string Bucket::advice(int status) const {
  switch (status) {
    case 301:
    case 307: return text("the bucket is in another region than ", region(), "; set AWS_REGION or region= in the name");
    case 401:
    case 403:
      return "check the keys and their permissions; servers also answer so for objects that do not exist if the keys "
             "do not permit to list the bucket";
    case 404: return "check the bucket and the endpoint";
    case 400:
      return "check the region, the endpoint and the style of the bucket's address (style=path or style=virtual)";
    case 501: return "the server does not implement this request";
    default: return {};
  }
}

}  // namespace plait::store::s3
