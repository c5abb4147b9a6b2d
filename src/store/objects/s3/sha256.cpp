// SHA-256 by the library of OpenSSL, which uses the processor's instructions, or by libsodium, which does not.
//
// A body is hashed before it is sent, so that a slow hash limits all puts.

#include "store/objects/s3/sha256.hpp"

#include <sodium.h>

#include <array>

#include "store/objects/s3/open_ssl.hpp"

namespace plait::store::s3 {

namespace {

using Sha256 = std::array<unsigned char, crypto_hash_sha256_BYTES>;

/// Bodies of at least this size are hashed by OpenSSL, whose calls take some microseconds more.
constexpr std::size_t kLongBody = 4096;

}  // namespace

std::string sha256_hex(std::span<const std::byte> bytes) {
  Sha256 hash{};
  if (bytes.size() < kLongBody || !hash_by_open_ssl(HashFunction::kSha256, bytes, hash))
    ::crypto_hash_sha256(hash.data(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  std::string digits(hash.size() * 2 + 1, '\0');
  ::sodium_bin2hex(digits.data(), digits.size(), hash.data(), hash.size());
  digits.pop_back();
  return digits;
}

}  // namespace plait::store::s3
