#include "store/objects/s3/configuration.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>

#include "base/errors.hpp"
#include "base/nearest.hpp"
#include "base/text.hpp"

namespace plait::store::s3 {

namespace {

using Settings = std::map<std::string, std::string>;

constexpr std::array<std::string_view, 6> kOptions{"endpoint", "region", "profile", "anonymous", "style", "conditions"};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

/// Returns the first value that is not empty.
template <typename... Values>
std::string first_stated(const Values&... values) {
  std::string result;
  ((result.empty() ? void(result = values) : void()), ...);
  return result;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

std::string file_path(const char* variable, const char* name) {
  if (const std::string path = environment(variable); !path.empty()) return path;
  const char* const user = std::getenv("HOME");
  return user == nullptr ? std::string() : std::string(user) + name;
}

/// Adds the settings of a section of a file. Returns false if there is no such section.
/// Example of a file: "[profile lab]\nregion = eu-west-1\n".
bool read_section(const std::string& path, const std::string& section, Settings& settings) {
  std::ifstream file(path);
  bool inside = false;
  bool found = false;
  for (std::string line; std::getline(file, line);) {
    const std::string_view content = trimmed(line);
    if (content.empty() || content.starts_with('#') || content.starts_with(';')) continue;
    if (content.starts_with('[')) {
      inside = content.ends_with(']') && trimmed(content.substr(1, content.size() - 2)) == section;
      found = found || inside;
      continue;
    }
    const std::size_t equals = content.find('=');
    // Lines of nested settings are indented.
    if (!inside || equals == std::string_view::npos || line.starts_with(' ') || line.starts_with('\t')) continue;
    settings[std::string(trimmed(content.substr(0, equals)))] = trimmed(content.substr(equals + 1));
  }
  return found;
}

/// Returns the settings of a profile; nothing if no file has it.
std::optional<Settings> read_profile(const std::string& profile) {
  Settings settings;
  const std::string section = profile == "default" ? profile : "profile " + profile;
  const bool in_config = read_section(file_path("AWS_CONFIG_FILE", "/.aws/config"), section, settings);
  const bool in_credentials =
      read_section(file_path("AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials"), profile, settings);
  return in_config || in_credentials ? std::optional(settings) : std::nullopt;
}

std::string option(const web::WebUrl& url, std::string_view key) {
  for (const UrlOption& one : url.options)
    if (one.key == key) return one.value;
  return {};
}

/// Returns the value of an option that is true or false.
bool flag(const web::WebUrl& url, const std::string& location, std::string_view key, bool otherwise) {
  for (const UrlOption& one : url.options) {
    if (one.key != key) continue;
    if (one.value == "true" || one.value == "1" || one.value == "on" || one.value.empty()) return true;
    if (one.value == "false" || one.value == "0" || one.value == "off") return false;
    base::throw_argument_error(location, ": ", key, '=', one.value, " is neither true nor false; write one of them");
  }
  return otherwise;
}

void check_options(const web::WebUrl& url, const std::string& location) {
  for (const UrlOption& one : url.options)
    if (std::ranges::find(kOptions, one.key) == kOptions.end())
      base::throw_argument_error(location, ": there is no option ", one.key, "= of s3://; the options are ",
                                 base::list_text({kOptions.begin(), kOptions.end()}), "; leave it out");
}

/// Checks an endpoint, and removes slashes at its end and the default port of its scheme: libcurl leaves that port out
/// of the header `Host`, which signatures cover.
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

Credentials resolve_credentials(const Settings& profile, bool profile_first, const std::string& location) {
  const auto in_profile = [&](const char* key) {
    const auto found = profile.find(key);
    return found == profile.end() ? std::string() : found->second;
  };
  Credentials of_profile{in_profile("aws_access_key_id"), in_profile("aws_secret_access_key"),
                         in_profile("aws_session_token")};
  Credentials of_environment{environment("AWS_ACCESS_KEY_ID"), environment("AWS_SECRET_ACCESS_KEY"),
                             environment("AWS_SESSION_TOKEN")};
  for (const Credentials* one :
       profile_first ? std::array{&of_profile, &of_environment} : std::array{&of_environment, &of_profile})
    if (!one->access_key.empty() && !one->secret_key.empty()) return *one;
  base::throw_argument_error(location,
                             ": there are no keys for this bucket; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "
                             "name a profile of ~/.aws/credentials in AWS_PROFILE, or write ?anonymous=true after the "
                             "name for public objects");
}

}  // namespace

Configuration resolve_configuration(const web::WebUrl& url, const std::string& location) {
  check_options(url, location);
  if (url.authority.empty())
    base::throw_argument_error(location, ": the name has no bucket; give one, as in s3://bucket/data.zarr");
  const std::string stated = option(url, "profile");
  const std::string name = first_stated(stated, environment("AWS_PROFILE"), environment("AWS_DEFAULT_PROFILE"));
  const std::optional<Settings> found = read_profile(name.empty() ? "default" : name);
  if (!found && !name.empty())
    base::throw_argument_error(location, ": ~/.aws/credentials and ~/.aws/config have no profile ", name,
                               "; name another one in AWS_PROFILE or profile=, or leave it out");
  Settings profile = found.value_or(Settings{});
  Configuration made;
  made.bucket = url.authority;
  made.endpoint = checked_endpoint(first_stated(option(url, "endpoint"), environment("AWS_ENDPOINT_URL_S3"),
                                                environment("AWS_ENDPOINT_URL"), profile["endpoint_url"]),
                                   location);
  made.region = first_stated(option(url, "region"), environment("AWS_REGION"), environment("AWS_DEFAULT_REGION"),
                             profile["region"], std::string("us-east-1"));
  const std::string style = option(url, "style");
  if (!style.empty() && style != "path" && style != "virtual")
    base::throw_argument_error(location, ": style=", style, " is neither path nor virtual; write one of them");
  // Certificates of AWS do not cover buckets with dots, and other servers often have one name only.
  made.virtual_host =
      style.empty() ? made.endpoint.empty() && made.bucket.find('.') == std::string::npos : style == "virtual";
  made.conditions = flag(url, location, "conditions", true);
  if (!flag(url, location, "anonymous", false))
    made.credentials = resolve_credentials(profile, !stated.empty(), location);
  return made;
}

}  // namespace plait::store::s3
