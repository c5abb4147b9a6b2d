/// SHA-256 of the bodies of requests.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace plait::store::s3 {

/// Returns the SHA-256 of bytes in hexadecimal.
/// cost  Some 1.5 GB/s by OpenSSL on processors with instructions for SHA; 200 MB/s by libsodium, for systems without
/// OpenSSL.
/// threads  Any.
std::string sha256_hex(std::span<const std::byte> bytes);

}  // namespace plait::store::s3
