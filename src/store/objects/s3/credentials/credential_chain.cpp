#include "store/objects/s3/credentials/credential_chain.hpp"

#include <unistd.h>

#include <array>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "store/objects/s3/credentials/credential_process.hpp"
#include "store/objects/s3/credentials/credential_servers.hpp"

namespace plait::store::s3 {

namespace {

using base::text;
using Source = std::shared_ptr<CredentialSource>;

/// Checks the URL of a server, and removes slashes at its end.
std::string checked_url(std::string url, const char* variable, const std::string& location) {
  if (!url.starts_with("http://") && !url.starts_with("https://"))
    base::throw_argument_error(location, ": ", variable, " is not the URL of a server; begin it with https://");
  while (url.ends_with('/')) url.pop_back();
  return url;
}

/// Returns a source of keys that do not change, or nullptr if there are none. where: the origin of the keys in errors,
/// such as `the environment`.
Source fixed_keys(Credentials keys, const std::string& where, const std::string& location) {
  if (keys.access_key.empty() && keys.secret_key.empty()) return nullptr;
  if (keys.access_key.empty() || keys.secret_key.empty())
    base::throw_argument_error(
        location, ": ", where,
        keys.secret_key.empty() ? " has an access key without a secret key" : " has a secret key without an access key",
        "; set both or neither");
  return std::make_shared<CredentialSource>(std::move(keys));
}

Source environment_keys(const std::string& location) {
  return fixed_keys(
      {environment("AWS_ACCESS_KEY_ID"), environment("AWS_SECRET_ACCESS_KEY"), environment("AWS_SESSION_TOKEN")},
      "the environment", location);
}

/// Rejects profiles whose keys only AWS's own programs can get: those of another source would be another account's.
void check_profile(const Profile& profile, const std::string& location) {
  for (const char* key : {"role_arn", "sso_session", "sso_start_url", "login_session"}) {
    if (setting(profile, key).empty()) continue;
    base::throw_argument_error(location, ": the profile ", profile.name, " has ", key,
                               ", for which Plait cannot get keys; make a profile with credential_process = aws "
                               "configure export-credentials --profile ",
                               profile.name, ", and name that one in AWS_PROFILE or profile=");
  }
}

/// Returns the keys or the program of a profile. If the profile has a role, they are not that role's.
Source profile_keys(const Profile& profile, const std::string& location) {
  if (!setting(profile, "role_arn").empty()) {
    if (setting(profile, "web_identity_token_file").empty()) check_profile(profile, location);
    return nullptr;
  }
  if (Source source = fixed_keys({setting(profile, "aws_access_key_id"), setting(profile, "aws_secret_access_key"),
                                  setting(profile, "aws_session_token")},
                                 text("the profile ", profile.name), location))
    return source;
  const std::string command = setting(profile, "credential_process");
  if (command.empty()) return nullptr;
  return shared_source(text("process\n", profile.name, '\n', command),
                       [command, name = profile.name] { return run_credential_process(command, name); });
}

/// Returns the URL of the Security Token Service. Only the variable for that service may send tokens without TLS.
std::string token_service(const Profile& profile, const std::string& region, const std::string& location) {
  const std::string stated = environment("AWS_ENDPOINT_URL_STS");
  std::string url = checked_url(first_stated(stated, environment("AWS_ENDPOINT_URL"), setting(profile, "endpoint_url"),
                                             text("https://sts.", region, ".amazonaws.com")),
                                "AWS_ENDPOINT_URL_STS", location);
  if (stated.empty() && url.starts_with("http://") && !is_local_url(url))
    base::throw_argument_error(location,
                               ": the token of a web identity would go to the http:// URL of AWS_ENDPOINT_URL or "
                               "endpoint_url, so that others could read it; set AWS_ENDPOINT_URL_STS to the URL of "
                               "the token service");
  return url;
}

Source web_identity(WebIdentity identity, const Profile& profile, const std::string& region,
                    const std::string& location) {
  if (identity.token_file.empty()) return nullptr;
  if (identity.role.empty())
    base::throw_argument_error(location,
                               ": there is a token file of a web identity but no role; set AWS_ROLE_ARN, or "
                               "role_arn in the profile");
  if (identity.session.empty()) identity.session = text("plait-", ::getpid());
  identity.endpoint = token_service(profile, region, location);
  return shared_source(
      text("role\n", identity.role, '\n', identity.session, '\n', identity.token_file, '\n', identity.endpoint),
      [identity] { return assume_role(identity); });
}

WebIdentity environment_identity() {
  return {environment("AWS_ROLE_ARN"),
          environment("AWS_ROLE_SESSION_NAME"),
          environment("AWS_WEB_IDENTITY_TOKEN_FILE"),
          {}};
}

WebIdentity profile_identity(const Profile& profile) {
  return {setting(profile, "role_arn"),
          setting(profile, "role_session_name"),
          setting(profile, "web_identity_token_file"),
          {}};
}

Source container_keys(const std::string& location) {
  ContainerServer server;
  const std::string relative = environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  server.url = environment("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (!relative.empty()) {
    if (!relative.starts_with('/'))
      base::throw_argument_error(location, ": AWS_CONTAINER_CREDENTIALS_RELATIVE_URI is not a path; begin it with /");
    server.url = text("http://169.254.170.2", relative);
  }
  if (server.url.empty()) return nullptr;
  check_container_url(server.url, location);
  server.token_file = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
  server.token = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  return shared_source(text("container\n", server.url, '\n', server.token_file, '\n', server.token),
                       [server] { return get_container_keys(server); });
}

std::string metadata_endpoint(const std::string& location) {
  const std::string mode = environment("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE");
  const bool is_ipv6 = mode == "IPv6" || mode == "ipv6";
  return checked_url(first_stated(environment("AWS_EC2_METADATA_SERVICE_ENDPOINT"),
                                  std::string(is_ipv6 ? "http://[fd00:ec2::254]" : "http://169.254.169.254")),
                     "AWS_EC2_METADATA_SERVICE_ENDPOINT", location);
}

[[noreturn]] void throw_no_keys(const std::string& location, const std::string& reason) {
  base::throw_argument_error(location, ": there are no keys for this bucket", reason,
                             "; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, name a profile of "
                             "~/.aws/credentials in AWS_PROFILE, or write ?anonymous=true after the name for public "
                             "objects");
}

Source instance_keys(const std::string& location) {
  const std::string disabled = environment("AWS_EC2_METADATA_DISABLED");
  if (disabled == "true" || disabled == "TRUE" || disabled == "True") throw_no_keys(location, "");
  const std::string endpoint = metadata_endpoint(location);
  Source source = shared_source(text("instance\n", endpoint), [endpoint] { return get_instance_keys(endpoint); });
  try {
    source->renew();
  } catch (const Error& error) {
    // Most hosts are not instances of EC2: report the missing keys, and the failed request only in parentheses.
    throw_no_keys(location, text(" (", error.what(), ")"));
  }
  return source;
}

}  // namespace

std::shared_ptr<CredentialSource> find_credentials(const Profile& profile, const std::string& region,
                                                   const std::string& location) {
  Source source = profile.is_option ? nullptr : environment_keys(location);
  if (source == nullptr) source = profile_keys(profile, location);
  if (profile.is_option && source == nullptr) {
    source = web_identity(profile_identity(profile), profile, region, location);
    if (source == nullptr) check_profile(profile, location);
    if (source == nullptr) source = environment_keys(location);
  }
  if (source == nullptr) source = web_identity(environment_identity(), profile, region, location);
  if (source == nullptr) source = web_identity(profile_identity(profile), profile, region, location);
  if (source == nullptr) {
    check_profile(profile, location);
    source = container_keys(location);
  }
  if (source == nullptr) source = instance_keys(location);
  source->renew();
  return source;
}

}  // namespace plait::store::s3
