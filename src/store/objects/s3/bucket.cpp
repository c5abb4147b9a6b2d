#include "store/objects/s3/bucket.hpp"

#include <array>
#include <utility>

#include "base/process.hpp"
#include "base/text.hpp"

namespace plait::store::s3 {

namespace {

using base::text;

/// Characters of keys that stay as they are, besides unreserved ones.
constexpr std::string_view kKeyCharacters = "/";
constexpr std::string_view kHashHeader = "x-amz-content-sha256";

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

std::string xml_text(std::string_view document, std::string_view tag) {
  const std::string open = text('<', tag, '>');
  const std::size_t begin = document.find(open);
  if (begin == std::string_view::npos) return {};
  std::string_view rest = document.substr(begin + open.size());
  rest = rest.substr(0, rest.find('<'));
  constexpr std::array<std::pair<std::string_view, char>, 7> kEntities{{{"&amp;", '&'},
                                                                        {"&lt;", '<'},
                                                                        {"&gt;", '>'},
                                                                        {"&quot;", '"'},
                                                                        {"&#34;", '"'},
                                                                        {"&apos;", '\''},
                                                                        {"&#39;", '\''}}};
  std::string result;
  while (!rest.empty()) {
    bool replaced = false;
    for (const auto& [entity, character] : kEntities) {
      if (!rest.starts_with(entity)) continue;
      result += character;
      rest.remove_prefix(entity.size());
      replaced = true;
      break;
    }
    if (replaced) continue;
    result += rest.front();
    rest.remove_prefix(1);
  }
  return result;
}

Bucket::Bucket(Configuration configuration) : configuration_(std::move(configuration)) {}

std::string Bucket::id() const { return text(configuration_.endpoint, '/', configuration_.bucket); }

std::string Bucket::region() const {
  LearntRegions& learnt = learnt_regions();
  const std::scoped_lock lock(learnt.mutex);
  const auto found = learnt.regions.find(id());
  return found == learnt.regions.end() ? configuration_.region : found->second;
}

std::string Bucket::bucket_url(const std::string& query) const {
  return text(url(""), query.empty() ? "" : "?", query);
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

http::Request Bucket::prepare(const http::Request& request, std::int64_t seconds) {
  http::Request made = request;
  made.region = region();
  if (configuration_.endpoint.empty()) replace_region(made.url, made.region);
  if (configuration_.credentials.anonymous()) return made;
  bool has_hash = false;
  for (const http::Header& one : made.headers) has_hash = has_hash || one.name == kHashHeader;
  if (!has_hash) made.headers.push_back({std::string(kHashHeader), std::string(kEmptyHash)});
  sign(made, configuration_.credentials, {made.region, seconds});
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
