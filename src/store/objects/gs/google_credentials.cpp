// https://cloud.google.com/docs/authentication/application-default-credentials
// https://cloud.google.com/compute/docs/access/authenticate-workloads#applications
// https://developers.google.com/identity/protocols/oauth2/web-server#offline
//
// A login of a user is a JSON file with `"type": "authorized_user"` and a refresh token, for which a server gives an
// access token of an hour. Keys of service accounts have another type; their requests need signatures by RSA.

#include "store/objects/gs/google_credentials.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "plait/error.hpp"
#include "store/http/request.hpp"
#include "store/objects/s3/credentials/credential_servers.hpp"
#include "store/objects/s3/credentials/profile.hpp"

namespace plait::store::gs {

namespace {

using base::text;
using s3::Credentials;
using s3::environment;
using Source = std::shared_ptr<s3::CredentialSource>;

Source fixed(Credentials keys, const std::string& location) {
  s3::check_keys(keys, location);
  return std::make_shared<s3::CredentialSource>(std::move(keys));
}

/// Returns the HMAC key or the token of the environment; nullptr if there is none.
Source environment_keys(const std::string& location) {
  Credentials keys{environment("GS_ACCESS_KEY_ID"), environment("GS_SECRET_ACCESS_KEY")};
  if (keys.access_key.empty() != keys.secret_key.empty())
    base::throw_argument_error(location, ": of GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY only one is set; set both");
  if (!keys.access_key.empty()) return fixed(std::move(keys), location);
  keys.session_token =
      s3::first_stated(environment("GOOGLE_OAUTH_ACCESS_TOKEN"), environment("CLOUDSDK_AUTH_ACCESS_TOKEN"));
  return keys.session_token.empty() ? nullptr : fixed(std::move(keys), location);
}

/// Returns the path of the file with the login of a user; empty if there is none.
std::string login_path(const std::string& location) {
  std::string stated = environment("GOOGLE_APPLICATION_CREDENTIALS");
  if (!stated.empty()) {
    if (!std::ifstream(stated))
      base::throw_argument_error(location, ": the file ", stated,
                                 ", which GOOGLE_APPLICATION_CREDENTIALS names, cannot ",
                                 "be read; name another one, or unset the variable");
    return stated;
  }
  const std::string folder = s3::first_stated(environment("CLOUDSDK_CONFIG"), environment("HOME") + "/.config/gcloud");
  const std::string path = folder + "/application_default_credentials.json";
  return std::ifstream(path) ? path : std::string();
}

struct UserLogin {
  std::string client_id;
  std::string client_secret;
  std::string refresh_token;
  std::string server;  ///< URL that gives tokens
};

Credentials refresh(const UserLogin& login, const std::string& path) {
  const std::string source = text("cannot get a token for the login in ", path);
  const std::string form = text("grant_type=refresh_token&client_id=", http::percent_encoded(login.client_id),
                                "&client_secret=", http::percent_encoded(login.client_secret),
                                "&refresh_token=", http::percent_encoded(login.refresh_token));
  return s3::parse_token(s3::post_form(login.server, form, source), source);
}

Source user_login(const std::string& path, const std::string& location) {
  std::ifstream file(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const nlohmann::json object = nlohmann::json::parse(content, nullptr, false);
  const std::string type = s3::text_member(object, "type");
  UserLogin login{
      s3::text_member(object, "client_id"), s3::text_member(object, "client_secret"),
      s3::text_member(object, "refresh_token"),
      s3::first_stated(s3::text_member(object, "token_uri"), std::string("https://oauth2.googleapis.com/token"))};
  if (type != "authorized_user" || login.refresh_token.empty())
    base::throw_argument_error(
        location, ": the file ", path, " has credentials of the type \"", type, "\"; expected a login of a user ",
        "(authorized_user); for a service account, set GOOGLE_OAUTH_ACCESS_TOKEN to the output of ",
        "`gcloud auth print-access-token`, or GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY to an HMAC key");
  if (!login.server.starts_with("https://") && !s3::is_local_url(login.server))
    base::throw_argument_error(location, ": token_uri in ", path, " is no https:// URL, so that others could read the ",
                               "login; use https://");
  return s3::shared_source(text("google user\n", path, '\n', login.server, '\n', login.refresh_token),
                           [login, path] { return refresh(login, path); });
}

Credentials machine_token(const std::string& host) {
  const std::string source = text("cannot get a token of this machine from ", host);
  http::Request request;
  request.url = text("http://", host, "/computeMetadata/v1/instance/service-accounts/default/token");
  request.headers = {{"Metadata-Flavor", "Google"}};
  request.direct = true;
  return s3::parse_token(s3::request_machine_keys(std::move(request), source), source);
}

Source machine(const std::string& location) {
  const std::string host = s3::first_stated(environment("GCE_METADATA_HOST"), std::string("metadata.google.internal"));
  Source source = s3::shared_source(text("google machine\n", host), [host] { return machine_token(host); });
  try {
    source->renew();
  } catch (const Error& error) {
    // Most machines are not Google's, so that this is not the cause that users look for.
    base::throw_argument_error(
        location, ": there are no credentials for this bucket (", error.what(), "); log in by `gcloud auth ",
        "application-default login`, set GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY to an HMAC key, set ",
        "GOOGLE_OAUTH_ACCESS_TOKEN, or write ?anonymous=true after the name for public objects");
  }
  return source;
}

}  // namespace

std::shared_ptr<s3::CredentialSource> find_credentials(const std::string& location) {
  Source source = environment_keys(location);
  if (source == nullptr) {
    const std::string path = login_path(location);
    source = path.empty() ? machine(location) : user_login(path, location);
  }
  source->renew();
  return source;
}

}  // namespace plait::store::gs
