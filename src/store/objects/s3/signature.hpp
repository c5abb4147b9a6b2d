/// Signatures of AWS, version 4 (SigV4), by HMAC-SHA256.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "store/http/request.hpp"
#include "store/objects/s3/credentials/credentials.hpp"
#include "store/objects/s3/dialect.hpp"
#include "store/objects/s3/sha256.hpp"

namespace plait::store::s3 {

/// SHA-256 of no bytes.
inline constexpr std::string_view kEmptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// Where and when a signature is valid.
struct SigningScope {
  std::string region;
  std::int64_t seconds = 0;  ///< since 1970
  const Dialect& dialect = kAmazon;
};

/// Adds the headers `x-amz-date`, `x-amz-security-token` and `Authorization`. It signs the host and all headers that
/// the request has. The request has the header `x-amz-content-sha256`, and the query of its URL is encoded. Other
/// dialects have other names for these headers.
void sign(http::Request& request, const Credentials& credentials, const SigningScope& scope);

}  // namespace plait::store::s3
