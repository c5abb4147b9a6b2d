/// Access to a container of Azure Blob Storage, from the name and the environment.
#pragma once

#include <memory>
#include <string>

#include "store/objects/s3/credentials/credential_source.hpp"

namespace plait::store::azure {

struct Configuration {
  std::string container;
  std::string account;
  std::string endpoint;  ///< such as `https://ACCOUNT.blob.core.windows.net`, without a slash at the end
  bool conditions = true;
  /// An account and its key, or a token; nullptr: requests have no signature.
  std::shared_ptr<s3::CredentialSource> keys{};
  std::string sas{};  ///< parameters that authorize requests (shared access signature), in place of a key
};

/// Returns a text that is the same for all URLs of an object.  errors  kArgument: no account, or a wrong endpoint.
std::string object_id(const std::string& location);

/// Resolves the access to the container of a URL. Options of the URL come first, then environment variables, then the
/// connection string in AZURE_STORAGE_CONNECTION_STRING.
/// errors  kArgument: an unknown option, no account, a wrong endpoint or key, or no credentials. kSystem: a server does
///         not give a token.
Configuration resolve_configuration(const std::string& location);

}  // namespace plait::store::azure
