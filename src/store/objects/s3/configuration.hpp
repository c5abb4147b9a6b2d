/// Access to a bucket: its server, its region and the keys, from the name, the environment and the files of AWS.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/http/request.hpp"
#include "store/objects/s3/credentials/credential_source.hpp"
#include "store/objects/s3/dialect.hpp"
#include "store/objects/web/web_url.hpp"

namespace plait::store::s3 {

struct Configuration {
  std::string bucket;
  std::string endpoint;  ///< such as `http://127.0.0.1:8333`, without a slash at the end; empty: that of AWS
  std::string region;
  bool virtual_host = false;                 ///< the bucket is a part of the host's name; else it begins the path
  bool conditions = true;                    ///< puts may have conditions
  std::shared_ptr<CredentialSource> keys{};  ///< nullptr: requests have no signature
  const Dialect* dialect = &kAmazon;
  std::vector<http::Header> added{};  ///< headers of all requests, such as that of who pays
};

/// Returns the value of an option of a URL; empty if it has none.
std::string option(const web::WebUrl& url, std::string_view key);
/// Returns the value of an option that is true or false.  errors  kArgument: it is neither.
bool flag(const web::WebUrl& url, const std::string& location, std::string_view key, bool otherwise);
/// Checks that a URL has a bucket and none but these options.  errors  kArgument.
void check_url(const web::WebUrl& url, const std::string& location, std::span<const std::string_view> options);
/// Checks that a token may be sent to an endpoint: by TLS, or on this host.  errors  kArgument.
void check_private(const std::string& endpoint, const std::string& location);
/// Checks an endpoint, and removes slashes at its end and the default port of its scheme: libcurl leaves that port out
/// of the header `Host`, which signatures cover.  errors  kArgument: it is not the URL of a server.
std::string checked_endpoint(std::string endpoint, const std::string& location);

/// Returns the endpoint of a URL's server; empty: that of AWS. An unknown profile has none.
/// errors  kArgument: it is not the URL of a server.
std::string resolve_endpoint(const web::WebUrl& url, const std::string& location);

/// Resolves the access to the bucket of a URL. Options of the URL come first, then environment variables, then the
/// profile in the files ~/.aws/credentials and ~/.aws/config.
/// errors  kArgument: an unknown option, a wrong endpoint, an unknown profile, or no keys. kSystem: the source of keys
///         does not give any.
/// cost  Nothing but the first request for keys of a role in this process, which later calls share.
Configuration resolve_configuration(const web::WebUrl& url, const std::string& location);

}  // namespace plait::store::s3
