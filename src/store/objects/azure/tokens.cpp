// https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow
// https://learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token

#include "store/objects/azure/tokens.hpp"

#include <cerrno>
#include <fstream>
#include <iterator>
#include <span>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "plait/error.hpp"
#include "store/http/request.hpp"
#include "store/objects/s3/credentials/credential_servers.hpp"
#include "store/objects/s3/credentials/profile.hpp"

namespace plait::store::azure {

namespace {

using base::text;
using s3::environment;
using Source = std::shared_ptr<s3::CredentialSource>;

constexpr const char* kStorage = "https://storage.azure.com/";

/// An application that may use the account.
struct Application {
  std::string server;  ///< URL that gives tokens
  std::string client;
  std::string secret;
  std::string token_file;  ///< read for each request: it is replaced before its token expires
};

std::string proof(const Application& application, const std::string& source) {
  if (application.token_file.empty()) return "&client_secret=" + http::percent_encoded(application.secret);
  std::ifstream file(application.token_file, std::ios::binary);
  std::string token{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  while (token.ends_with('\n')) token.pop_back();
  if (token.empty())
    base::throw_system_error(ENOENT, source, ": the file ", application.token_file,
                             " with its token is missing, empty or not readable");
  return text(
      "&client_assertion_type=", http::percent_encoded("urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
      "&client_assertion=", http::percent_encoded(token));
}

s3::Credentials application_token(const Application& application) {
  const std::string source = text("cannot get a token of the application ", application.client);
  const std::string form =
      text("grant_type=client_credentials&client_id=", http::percent_encoded(application.client),
           "&scope=", http::percent_encoded(text(kStorage, ".default")), proof(application, source));
  return s3::parse_token(s3::post_form(application.server, form, source), source);
}

/// Returns the token of an application; nullptr if none is configured.
Source application(const std::string& location) {
  Application made;
  made.client = environment("AZURE_CLIENT_ID");
  made.secret = environment("AZURE_CLIENT_SECRET");
  made.token_file = environment("AZURE_FEDERATED_TOKEN_FILE");
  const std::string tenant = environment("AZURE_TENANT_ID");
  if (made.client.empty() || tenant.empty() || (made.secret.empty() && made.token_file.empty())) return nullptr;
  std::string host =
      s3::first_stated(environment("AZURE_AUTHORITY_HOST"), std::string("https://login.microsoftonline.com"));
  while (host.ends_with('/')) host.pop_back();
  if (!host.starts_with("https://") && !s3::is_local_url(host))
    base::throw_argument_error(location, ": AZURE_AUTHORITY_HOST is no https:// URL, so that others could read the ",
                               "secret of the application; use https://");
  made.server = text(host, '/', http::percent_encoded(tenant), "/oauth2/v2.0/token");
  return s3::shared_source(
      text("azure application\n", made.server, '\n', made.client, '\n', made.token_file, '\n', made.secret),
      [made] { return application_token(made); });
}

s3::Credentials machine_token(const std::string& server, const std::string& client) {
  const std::string source = text("cannot get a token of this machine from ", server);
  http::Request request;
  request.url =
      text(server, "/metadata/identity/oauth2/token?api-version=2018-02-01&resource=", http::percent_encoded(kStorage),
           client.empty() ? "" : "&client_id=", http::percent_encoded(client));
  request.headers = {{"Metadata", "true"}};
  request.direct = true;
  return s3::parse_token(s3::request_machine_keys(std::move(request), source), source);
}

Source machine(const std::string& location) {
  const std::string server =
      s3::first_stated(environment("AZURE_POD_IDENTITY_AUTHORITY_HOST"), std::string("http://169.254.169.254"));
  const std::string client = environment("AZURE_CLIENT_ID");
  Source source = s3::shared_source(text("azure machine\n", server, '\n', client),
                                    [server, client] { return machine_token(server, client); });
  try {
    source->renew();
  } catch (const Error& error) {
    // Most machines are not Azure's, so that this is not the cause that users look for.
    base::throw_argument_error(location, ": there are no credentials for this container (", error.what(),
                               "); set AZURE_STORAGE_ACCOUNT_KEY, ",
                               "AZURE_STORAGE_SAS_TOKEN or AZURE_STORAGE_CONNECTION_STRING, or write ?anonymous=true "
                               "after the name for public ",
                               "objects");
  }
  return source;
}

}  // namespace

std::shared_ptr<s3::CredentialSource> find_token(const std::string& location) {
  s3::Credentials fixed;
  fixed.session_token = environment("AZURE_STORAGE_TOKEN");
  if (!fixed.session_token.empty()) {
    s3::check_keys(fixed, location);
    return std::make_shared<s3::CredentialSource>(std::move(fixed));
  }
  Source source = application(location);
  if (source == nullptr) source = machine(location);
  source->renew();
  return source;
}

}  // namespace plait::store::azure
