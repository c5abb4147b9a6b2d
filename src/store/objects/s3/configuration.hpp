/// Access to a bucket: its server, its region and the keys, from the name, the environment and the files of AWS.
#pragma once

#include <memory>
#include <string>

#include "store/objects/s3/credentials/credential_source.hpp"
#include "store/objects/web/web_url.hpp"

namespace plait::store::s3 {

struct Configuration {
  std::string bucket;
  std::string endpoint;  ///< such as `http://127.0.0.1:8333`, without a slash at the end; empty: that of AWS
  std::string region;
  bool virtual_host = false;                 ///< the bucket is a part of the host's name; else it begins the path
  bool conditions = true;                    ///< puts may have conditions
  std::shared_ptr<CredentialSource> keys{};  ///< nullptr: requests have no signature
};

/// Resolves the access to the bucket of a URL. Options of the URL come first, then environment variables, then the
/// profile in the files ~/.aws/credentials and ~/.aws/config.
/// errors  kArgument: an unknown option, a wrong endpoint, an unknown profile, or no keys. kSystem: the source of keys
///         does not give any.
/// cost  Nothing but the first request for keys of a role in this process, which later calls share.
Configuration resolve_configuration(const web::WebUrl& url, const std::string& location);

}  // namespace plait::store::s3
