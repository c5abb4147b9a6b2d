/// Tokens of Microsoft Entra ID for Azure Blob Storage.
#pragma once

#include <memory>
#include <string>

#include "store/objects/s3/credentials/credential_source.hpp"

namespace plait::store::azure {

/// Finds a token in this order: AZURE_STORAGE_TOKEN; that of an application with AZURE_CLIENT_ID and
/// AZURE_TENANT_ID, by the token in AZURE_FEDERATED_TOKEN_FILE or by AZURE_CLIENT_SECRET; that of the machine.
/// errors  kArgument: there is none. kSystem: a server does not give one.
/// cost  The first call in a process may send a request, which later calls share.
std::shared_ptr<s3::CredentialSource> find_token(const std::string& location);

}  // namespace plait::store::azure
