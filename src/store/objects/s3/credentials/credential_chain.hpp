/// The order in which keys are looked for.
#pragma once

#include <memory>
#include <string>

#include "store/objects/s3/credentials/credential_source.hpp"
#include "store/objects/s3/credentials/profile.hpp"

namespace plait::store::s3 {

/// Finds the first source of keys that is configured, and gets its keys:
///   1. AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (after the profile, if the name of the array states it)
///   2. keys of the profile
///   3. `credential_process` of the profile
///   4. a web identity: AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN, or the settings of the profile
///   5. a container: AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or AWS_CONTAINER_CREDENTIALS_FULL_URI
///   6. the instance, unless AWS_EC2_METADATA_DISABLED is true
/// region: that of the Security Token Service. location: begins errors of arguments.
/// errors  kArgument: there are no keys, or a setting is wrong. kSystem: the source does not give keys.
std::shared_ptr<CredentialSource> find_credentials(const Profile& profile, const std::string& region,
                                                   const std::string& location);

}  // namespace plait::store::s3
