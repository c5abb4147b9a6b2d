/// Keys from servers of AWS: those of a role for the token of a web identity, of a container, and of an instance.
#pragma once

#include <string>
#include <string_view>

#include "store/http/request.hpp"
#include "store/objects/s3/credentials/credentials.hpp"

namespace plait::store::s3 {

/// A role that a token permits to assume.
struct WebIdentity {
  std::string role;
  std::string session;     ///< name of the session in the account's records
  std::string token_file;  ///< read for each request: it is replaced before its token expires
  std::string endpoint;    ///< URL of the Security Token Service
};

/// Sends AssumeRoleWithWebIdentity.  errors  kSystem: there is no token, or the request fails.
Credentials assume_role(const WebIdentity& identity);

/// Server of a container's keys. The token is that of the file, or else of the text.
struct ContainerServer {
  std::string url;
  std::string token_file;
  std::string token;
};

/// Sends a request, without redirects, and returns the body of the answer. source: begins the errors.
/// errors  kSystem: there is no answer, or it has another status than 2xx.
std::string request_keys(http::Request request, const std::string& source);

/// Sends a form to a server of tokens, and returns the body of the answer.
/// errors  Those of request_keys().
std::string post_form(const std::string& url, const std::string& form, const std::string& source);

/// Sends a request to the metadata server that a cloud's machines have: one attempt of a second, as most machines have
/// none, and more of them if the server has answered, as it limits the requests of many processes.
/// errors  Those of request_keys().
std::string request_machine_keys(http::Request request, const std::string& source);

/// Returns true for an http:// URL of this host.
bool is_local_url(std::string_view url);
/// Checks that the keys of a server may be requested: by TLS, from this host, or from an address that Amazon's
/// container services have.  errors  kArgument: another server.
void check_container_url(const std::string& url, const std::string& location);
/// Gets the keys of a container.  errors  kSystem: the request fails.
Credentials get_container_keys(const ContainerServer& server);

/// Gets the keys of an instance from its metadata, by version 2 of that service (IMDSv2). endpoint: URL of the service.
/// The first request takes at most AWS_METADATA_SERVICE_TIMEOUT seconds (1), and the others at least five, four times.
/// errors  kSystem: the host is no instance, the instance has no role, or a request fails.
Credentials get_instance_keys(const std::string& endpoint);

}  // namespace plait::store::s3
