/// Keys and tokens for Google Cloud Storage.
#pragma once

#include <memory>
#include <string>

#include "store/objects/s3/credentials/credential_source.hpp"

namespace plait::store::gs {

/// Finds what authorizes requests, in this order: an HMAC key in GS_ACCESS_KEY_ID and GS_SECRET_ACCESS_KEY; a token in
/// GOOGLE_OAUTH_ACCESS_TOKEN or CLOUDSDK_AUTH_ACCESS_TOKEN; the user's login in the file that
/// GOOGLE_APPLICATION_CREDENTIALS names, or in that of gcloud; the service account of the machine.
/// errors  kArgument: there is nothing, or the file is of a kind that needs another signature. kSystem: a server does
///         not give a token.
/// cost  The first call in a process may send a request for a token, which later calls share.
std::shared_ptr<s3::CredentialSource> find_credentials(const std::string& location);

}  // namespace plait::store::gs
