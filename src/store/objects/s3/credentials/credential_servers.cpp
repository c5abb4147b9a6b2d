// Gets temporary keys from servers: those of containers, of instances, and of roles with web identities.
// https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html
// https://docs.aws.amazon.com/sdkref/latest/guide/feature-imds-credentials.html
// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html
//
// Tokens and keys are in bodies and headers only, and errors have neither. Requests do not follow redirects, which
// would send a token to another server.

#include "store/objects/s3/credentials/credential_servers.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <span>
#include <string_view>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "store/http/client.hpp"
#include "store/objects/bucket/xml_text.hpp"
#include "store/objects/s3/credentials/profile.hpp"

namespace plait::store::s3 {

namespace {

using base::text;
using bucket::xml_text;

constexpr std::int64_t kMilliseconds = 1'000;  // in a second
/// Limits of requests to a server on this host or next to it.
constexpr std::int64_t kContainerSeconds = 5;
constexpr int kContainerAttempts = 3;
constexpr std::int64_t kInstanceSeconds = 5;  // after its metadata has answered
constexpr int kInstanceAttempts = 4;
constexpr std::int64_t kFormSeconds = 30;
constexpr int kFormAttempts = 4;

/// Sends requests as they are. Requests with an adapter do not follow redirects.
class UnsignedRequests : public http::Adapter {
 public:
  http::Request prepare(const http::Request& request, std::int64_t /*seconds*/) override { return request; }
  bool learn(const http::Call& /*call*/) override { return false; }
};

/// Returns the scheme, host and port of a URL: its path may be what authorizes a request.
std::string public_url(std::string_view url) {
  const std::string_view scheme = url.substr(0, url.find("://") + 3);
  std::string_view server = http::url_authority(url);
  server = server.substr(0, server.find('#'));
  if (const std::size_t at = server.rfind('@'); at != std::string_view::npos) server.remove_prefix(at + 1);
  return text(scheme, server);
}

/// Returns the host of an http:// URL; empty if the URL is another one or has more than a host and a port.
std::string_view plain_host(std::string_view url) {
  if (!url.starts_with("http://")) return {};
  const std::string_view server = http::url_authority(url);
  if (server.find_first_of("@\\#") != std::string_view::npos) return {};
  const std::size_t size = server.starts_with('[') ? server.find(']') + 1 : std::min(server.find(':'), server.size());
  const std::string_view port = server.substr(size);
  if (!port.empty() && (port[0] != ':' || port.find_first_not_of("0123456789", 1) != std::string_view::npos)) return {};
  return server.substr(0, size);
}

/// Returns the content of a file with a token, without white space at its end.
std::string read_token(const std::string& path, const std::string& source) {
  std::ifstream file(path, std::ios::binary);
  std::string token{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  while (!token.empty() && std::string_view(" \t\r\n").find(token.back()) != std::string_view::npos) token.pop_back();
  if (token.empty())
    base::throw_system_error(ENOENT, source, ": the file ", path, " with its token is missing, empty or not readable");
  return token;
}

/// Rejects a token that would end its header.
void check_token(const std::string& token, const std::string& source) {
  if (token.find_first_of("\r\n") != std::string::npos)
    base::throw_system_error(EINVAL, source, ": its token has several lines; expected one line");
}

std::int64_t positive(const char* variable, std::int64_t otherwise) {
  const long value = std::strtol(environment(variable).c_str(), nullptr, 10);
  return value > 0 ? std::min<std::int64_t>(value, 3600) : otherwise;
}

}  // namespace

std::string request_keys(http::Request request, const std::string& source) {
  static UnsignedRequests adapter;
  http::Call call;
  call.request = std::move(request);
  call.adapter = &adapter;
  http::perform(call);
  if (!call.error.empty()) base::throw_system_error(call.error_code, source, ": ", call.error);
  if (call.response.ok()) return std::move(call.response.text);
  const std::string code = xml_text(call.response.text, "Code");
  base::throw_system_error(EACCES, source, ": the server answers with the status ", call.response.status,
                           code.empty() ? "" : " (", code, code.empty() ? "" : ")",
                           "; check the role of this program and its permissions");
}

std::string post_form(const std::string& url, const std::string& form, const std::string& source) {
  http::Request request;
  request.method = "POST";
  request.url = url;
  request.headers = {{"Content-Type", "application/x-www-form-urlencoded"}};
  request.body = std::as_bytes(std::span(form));
  request.max_milliseconds = kFormSeconds * kMilliseconds;
  request.max_attempts = kFormAttempts;
  return request_keys(std::move(request), source);
}

std::string request_machine_keys(http::Request request, const std::string& source) {
  request.max_milliseconds = kMilliseconds;
  request.max_attempts = 1;
  try {
    return request_keys(request, source);
  } catch (const Error& error) {
    if (error.system_code() != EACCES) throw;  // no server has answered
  }
  request.max_milliseconds = kInstanceSeconds * kMilliseconds;
  request.max_attempts = kInstanceAttempts;
  return request_keys(std::move(request), source);
}

Credentials assume_role(const WebIdentity& identity) {
  const std::string source =
      text("cannot get keys of the role ", identity.role, " from ", public_url(identity.endpoint));
  const std::string token = read_token(identity.token_file, source);
  const std::string form = text(
      "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=", http::percent_encoded(identity.role),
      "&RoleSessionName=", http::percent_encoded(identity.session), "&WebIdentityToken=", http::percent_encoded(token));
  const std::string answer = post_form(identity.endpoint + '/', form, source);
  Credentials keys{xml_text(answer, "AccessKeyId"), xml_text(answer, "SecretAccessKey"),
                   xml_text(answer, "SessionToken")};
  const std::optional<std::int64_t> expires = parse_timestamp(xml_text(answer, "Expiration"));
  if (keys.access_key.empty() || keys.secret_key.empty() || keys.session_token.empty() || !expires)
    base::throw_system_error(EPROTO, source, ": the answer has no keys; expected AccessKeyId, SecretAccessKey, ",
                             "SessionToken and Expiration; check the endpoint");
  check_keys(keys, source);
  keys.expires = *expires;
  return keys;
}

bool is_local_url(std::string_view url) {
  const std::string_view host = plain_host(url);
  return host == "localhost" || host == "[::1]" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos);
}

void check_container_url(const std::string& url, const std::string& location) {
  if (url.starts_with("https://") || is_local_url(url)) return;
  constexpr std::array<std::string_view, 3> kHosts{"169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"};
  if (std::ranges::find(kHosts, plain_host(url)) != kHosts.end()) return;
  base::throw_argument_error(location,
                             ": AWS_CONTAINER_CREDENTIALS_FULL_URI is neither an https:// URL nor an http:// "
                             "URL of this host or of Amazon's container services, so that others could read "
                             "the keys; use https://");
}

Credentials get_container_keys(const ContainerServer& server) {
  const std::string source = text("cannot get keys of the container from ", public_url(server.url));
  const std::string token = server.token_file.empty() ? server.token : read_token(server.token_file, source);
  check_token(token, source);
  http::Request request;
  request.url = server.url;
  if (!token.empty()) request.headers.push_back({"Authorization", token});
  request.max_milliseconds = kContainerSeconds * kMilliseconds;
  request.max_attempts = kContainerAttempts;
  request.direct = server.url.starts_with("http://");
  return parse_credentials(request_keys(std::move(request), source), {}, source);
}

Credentials get_instance_keys(const std::string& endpoint) {
  const std::string source = text("cannot get keys of this instance from ", public_url(endpoint));
  http::Request request;
  request.max_milliseconds = positive("AWS_METADATA_SERVICE_TIMEOUT", 1) * kMilliseconds;
  request.max_attempts = static_cast<int>(positive("AWS_METADATA_SERVICE_NUM_ATTEMPTS", 1));
  request.direct = true;
  http::Request token = request;
  token.method = "PUT";
  token.url = endpoint + "/latest/api/token";
  token.headers = {{"x-aws-ec2-metadata-token-ttl-seconds", "21600"}};
  const std::string session = request_keys(std::move(token), source);
  check_token(session, source);
  // The host is an instance: from here on a slow answer is no reason to report that there are no keys.
  request.max_milliseconds = std::max(request.max_milliseconds, kInstanceSeconds * kMilliseconds);
  request.max_attempts = std::max(request.max_attempts, kInstanceAttempts);
  request.headers = {{"x-aws-ec2-metadata-token", session}};
  request.url = endpoint + "/latest/meta-data/iam/security-credentials/";
  std::string role = request_keys(request, source);
  role = role.substr(0, role.find_first_of("\r\n"));
  if (role.empty()) base::throw_system_error(EACCES, source, ": the instance has no role; give it one");
  request.url += http::percent_encoded(role);
  return parse_credentials(request_keys(std::move(request), source), {}, source);
}

}  // namespace plait::store::s3
