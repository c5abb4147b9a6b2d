#include "store/objects/s3/configuration.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/nearest.hpp"
#include "base/text.hpp"
#include "store/objects/s3/credentials/credential_chain.hpp"
#include "store/objects/s3/credentials/credential_servers.hpp"

namespace plait::store::s3 {

namespace {

constexpr std::array<std::string_view, 7> kOptions{"endpoint", "region",     "profile",       "anonymous",
                                                   "style",    "conditions", "requester_pays"};

std::string profile_name(const web::WebUrl& url) {
  return first_stated(option(url, "profile"), environment("AWS_PROFILE"), environment("AWS_DEFAULT_PROFILE"));
}

/// Returns the profile that the URL or the environment names, else `default`, which may have no settings; nullopt if
/// the files have no profile of that name.
std::optional<Profile> find_profile(const web::WebUrl& url) {
  const std::string stated = profile_name(url);
  const std::string name = stated.empty() ? "default" : stated;
  std::optional<Settings> settings = read_profile(name);
  if (!settings && !stated.empty()) return std::nullopt;
  return Profile{name, !option(url, "profile").empty(), std::move(settings).value_or(Settings{})};
}

std::string stated_endpoint(const web::WebUrl& url) {
  return first_stated(option(url, "endpoint"), environment("AWS_ENDPOINT_URL_S3"), environment("AWS_ENDPOINT_URL"));
}

}  // namespace

std::string option(const web::WebUrl& url, std::string_view key) {
  for (const UrlOption& one : url.options)
    if (one.key == key) return one.value;
  return {};
}

bool flag(const web::WebUrl& url, const std::string& location, std::string_view key, bool otherwise) {
  for (const UrlOption& one : url.options) {
    if (one.key != key) continue;
    if (one.value == "true" || one.value == "1" || one.value == "on" || one.value.empty()) return true;
    if (one.value == "false" || one.value == "0" || one.value == "off") return false;
    base::throw_argument_error(location, ": ", key, '=', one.value, " is neither true nor false; write one of them");
  }
  return otherwise;
}

void check_url(const web::WebUrl& url, const std::string& location, std::span<const std::string_view> options) {
  std::vector<std::string_view> known(options.begin(), options.end());
  // Options of layers above the server: store/cache/cache_options.hpp, container/zarr/hierarchy/hierarchy.cpp.
  known.insert(known.end(), {"cache", "cache_size", "consolidated"});
  for (const UrlOption& one : url.options)
    if (std::ranges::find(known, one.key) == known.end())
      base::throw_argument_error(location, ": there is no option ", one.key, "= of ", url.scheme,
                                 "://; the options are ", base::list_text(known), "; leave it out");
  const std::string consolidated = option(url, "consolidated");
  const bool is_stated = std::ranges::find(url.options, "consolidated", &UrlOption::key) != url.options.end();
  if (is_stated && consolidated != "true" && consolidated != "false")
    base::throw_argument_error(location, ": the option consolidated is \"", consolidated,
                               "\"; expected true or false; write one of them, or leave it out");
  if (url.authority.empty())
    base::throw_argument_error(location, ": the name has no bucket; give one, as in ", url.scheme,
                               "://bucket/data.zarr");
}

void check_private(const std::string& endpoint, const std::string& location) {
  if (endpoint.starts_with("https://") || is_local_url(endpoint)) return;
  base::throw_argument_error(location, ": the endpoint ", endpoint,
                             " is no https:// URL, so that others could read the ",
                             "token that authorizes requests; use https://, or a key");
}

std::string checked_endpoint(std::string endpoint, const std::string& location) {
  while (endpoint.ends_with('/')) endpoint.pop_back();
  const bool has_scheme = endpoint.starts_with("http://") || endpoint.starts_with("https://");
  if (!endpoint.empty() && (!has_scheme || endpoint.ends_with(':') || endpoint.find('?') != std::string::npos ||
                            endpoint.find('@') != std::string::npos || endpoint.find('/', 8) != std::string::npos))
    base::throw_argument_error(location,
                               ": the endpoint is not the URL of a server; give its scheme, its host and its ",
                               "port, as in endpoint=http://127.0.0.1:9000");
  const std::string_view port = endpoint.starts_with("https:") ? ":443" : ":80";
  if (endpoint.ends_with(port)) endpoint.resize(endpoint.size() - port.size());
  return endpoint;
}

std::string resolve_endpoint(const web::WebUrl& url, const std::string& location) {
  std::string endpoint = stated_endpoint(url);
  if (endpoint.empty()) endpoint = setting(find_profile(url).value_or(Profile{}), "endpoint_url");
  return checked_endpoint(std::move(endpoint), location);
}

Configuration resolve_configuration(const web::WebUrl& url, const std::string& location) {
  check_url(url, location, kOptions);
  const std::optional<Profile> profile = find_profile(url);
  if (!profile)
    base::throw_argument_error(location, ": ~/.aws/credentials and ~/.aws/config have no profile ", profile_name(url),
                               "; name another one in AWS_PROFILE or profile=, or leave it out");
  Configuration made;
  made.bucket = url.authority;
  made.endpoint = checked_endpoint(first_stated(stated_endpoint(url), setting(*profile, "endpoint_url")), location);
  made.region = first_stated(option(url, "region"), environment("AWS_REGION"), environment("AWS_DEFAULT_REGION"),
                             setting(*profile, "region"), std::string("us-east-1"));
  const std::string style = option(url, "style");
  if (!style.empty() && style != "path" && style != "virtual")
    base::throw_argument_error(location, ": style=", style, " is neither path nor virtual; write one of them");
  // Certificates of AWS do not cover buckets with dots, and other servers often have one name only.
  made.virtual_host =
      style.empty() ? made.endpoint.empty() && made.bucket.find('.') == std::string::npos : style == "virtual";
  made.conditions = flag(url, location, "conditions", true);
  if (flag(url, location, "requester_pays", environment("AWS_REQUEST_PAYER") == "requester"))
    made.added.push_back({"x-amz-request-payer", "requester"});
  if (!flag(url, location, "anonymous", false)) made.keys = find_credentials(*profile, made.region, location);
  return made;
}

}  // namespace plait::store::s3
