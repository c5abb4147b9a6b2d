// The variables are those of Azure's command line and libraries.
// https://learn.microsoft.com/azure/storage/common/storage-configure-connection-string

#include "store/objects/azure/configuration.hpp"

#include <sodium.h>

#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "store/objects/azure/tokens.hpp"
#include "store/objects/s3/configuration.hpp"
#include "store/objects/s3/credentials/profile.hpp"

namespace plait::store::azure {

namespace {

using s3::environment;
using s3::first_stated;

constexpr std::array<std::string_view, 4> kOptions{"account", "endpoint", "anonymous", "conditions"};

/// Returns the fields of the connection string.
std::map<std::string, std::string> connection_fields() {
  std::map<std::string, std::string> fields;
  for (const std::string& field : split(environment("AZURE_STORAGE_CONNECTION_STRING"), ';'))
    if (const std::size_t at = field.find('='); at != std::string::npos)
      fields[field.substr(0, at)] = field.substr(at + 1);
  return fields;
}

/// Checks an endpoint, which may have a path: the account, in emulators.
std::string checked(std::string endpoint, const std::string& location) {
  while (endpoint.ends_with('/')) endpoint.pop_back();
  const bool has_scheme = endpoint.starts_with("http://") || endpoint.starts_with("https://");
  if (!has_scheme || endpoint.size() <= endpoint.find("://") + 3 || endpoint.find_first_of("?@#") != std::string::npos)
    base::throw_argument_error(location,
                               ": the endpoint is not the URL of a server; give its scheme, its host and its ",
                               "port, as in endpoint=http://127.0.0.1:10000/account");
  const std::size_t host = endpoint.find("://") + 3;
  const std::size_t end = std::min(endpoint.find('/', host), endpoint.size());
  const std::string_view port = endpoint.starts_with("https:") ? ":443" : ":80";
  // libcurl leaves the default port out of the header `Host`.
  if (std::string_view(endpoint).substr(host, end - host).ends_with(port))
    endpoint.erase(end - port.size(), port.size());
  return endpoint;
}

void check_key(const std::string& key, const std::string& location) {
  std::vector<unsigned char> bytes(key.size());
  std::size_t size = 0;
  const int failed = ::sodium_base642bin(bytes.data(), bytes.size(), key.data(), key.size(), nullptr, &size, nullptr,
                                         sodium_base64_VARIANT_ORIGINAL);
  if (failed != 0 || size == 0)
    base::throw_argument_error(location, ": the key of the account is not in base64; copy it again");
}

/// The account and the server of a URL.
struct Server {
  std::string account{};
  std::string endpoint{};
  std::map<std::string, std::string> fields{};  ///< fields of the connection string, if it is for this account
  bool is_usual = true;                         ///< true if the account is that of the environment
};

[[noreturn]] void throw_no_account(const std::string& location) {
  base::throw_argument_error(location, ": the name of the account is not stated; set AZURE_STORAGE_ACCOUNT_NAME, or ",
                             "write ?account=NAME after the name");
}

Server resolve_server(const web::WebUrl& url, const std::string& location) {
  Server server{.fields = connection_fields()};
  std::map<std::string, std::string>& fields = server.fields;
  const std::string stated = s3::option(url, "account");
  const std::string usual =
      first_stated(environment("AZURE_STORAGE_ACCOUNT_NAME"), environment("AZURE_STORAGE_ACCOUNT"));
  server.account = first_stated(stated, usual, fields["AccountName"]);
  // An endpoint and a signature belong to one account, and must not serve another one.
  if (!server.account.empty() && server.account != fields["AccountName"]) fields.clear();
  server.is_usual = stated.empty() || stated == usual;
  server.endpoint = first_stated(s3::option(url, "endpoint"),
                                 server.is_usual ? environment("AZURE_STORAGE_BLOB_ENDPOINT") : std::string(),
                                 fields["BlobEndpoint"]);
  if (server.account.empty() && server.endpoint.empty()) throw_no_account(location);
  if (server.endpoint.empty())
    server.endpoint = base::text("https://", server.account, ".blob.",
                                 first_stated(fields["EndpointSuffix"], std::string("core.windows.net")));
  server.endpoint = checked(server.endpoint, location);
  return server;
}

}  // namespace

std::string object_id(const std::string& location) {
  const web::WebUrl url = web::parse_web_url(location);
  return base::text("az://", resolve_server(url, location).endpoint, '/', url.authority, '/', url.key);
}

Configuration resolve_configuration(const std::string& location) {
  const web::WebUrl url = web::parse_web_url(location);
  s3::check_url(url, location, kOptions);
  Server server = resolve_server(url, location);
  std::map<std::string, std::string>& fields = server.fields;
  Configuration configuration;
  configuration.container = url.authority;
  configuration.account = std::move(server.account);
  configuration.endpoint = std::move(server.endpoint);
  configuration.conditions = s3::flag(url, location, "conditions", true);
  if (s3::flag(url, location, "anonymous", false)) return configuration;
  const std::string key =
      first_stated(environment("AZURE_STORAGE_ACCOUNT_KEY"), environment("AZURE_STORAGE_KEY"), fields["AccountKey"]);
  configuration.sas = first_stated(server.is_usual ? environment("AZURE_STORAGE_SAS_TOKEN") : std::string(),
                                   fields["SharedAccessSignature"]);
  if (configuration.sas.starts_with('?')) configuration.sas.erase(0, 1);
  if (!key.empty()) {
    if (configuration.account.empty()) throw_no_account(location);
    check_key(key, location);
    configuration.keys = std::make_shared<s3::CredentialSource>(s3::Credentials{configuration.account, key});
    configuration.sas.clear();
  } else {
    s3::check_private(configuration.endpoint, location);
    if (configuration.sas.empty()) configuration.keys = find_token(location);
  }
  return configuration;
}

}  // namespace plait::store::azure
