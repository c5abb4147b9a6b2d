/// Hashes by the library of OpenSSL, if the system has it.
#pragma once

#include <cstddef>
#include <span>

namespace plait::store::s3 {

enum class HashFunction { kSha256, kMd5 };

/// Computes a hash of `hash.size()` bytes. Returns false if OpenSSL is missing, or does not permit this function.
/// threads  Any.
bool hash_by_open_ssl(HashFunction function, std::span<const std::byte> bytes, std::span<unsigned char> hash);

}  // namespace plait::store::s3
