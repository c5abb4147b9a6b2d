// SHA-256 by the library of OpenSSL, which uses the processor's instructions, or by libsodium, which does not.
//
// A body is hashed before it is sent, so that a slow hash limits all puts. OpenSSL is loaded when the first long body
// is hashed, because only users of object stores need it. Python and most copies of libcurl have loaded it before.

#include "store/objects/s3/sha256.hpp"

#include <dlfcn.h>
#include <sodium.h>

#include <array>

namespace plait::store::s3 {

namespace {

using Sha256 = std::array<unsigned char, crypto_hash_sha256_BYTES>;

/// Bodies of at least this size are hashed by OpenSSL, whose calls take some microseconds more.
constexpr std::size_t kLongBody = 4096;

/// The functions of OpenSSL 1.1 and 3 that compute a hash; nullptr if there is no such library.
struct OpenSsl {
  const void* (*EVP_sha256)() = nullptr;
  int (*EVP_Digest)(const void*, std::size_t, unsigned char*, unsigned int*, const void*, void*) = nullptr;
};

OpenSsl load_open_ssl() {
  for (const char* name : {"libcrypto.so.3", "libcrypto.so.1.1"}) {
    void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    OpenSsl found;
    found.EVP_sha256 = reinterpret_cast<decltype(found.EVP_sha256)>(::dlsym(library, "EVP_sha256"));
    found.EVP_Digest = reinterpret_cast<decltype(found.EVP_Digest)>(::dlsym(library, "EVP_Digest"));
    if (found.EVP_sha256 != nullptr && found.EVP_Digest != nullptr) return found;
  }
  return {};
}

/// Returns false if OpenSSL is missing, or does not permit this hash.
bool hash_by_open_ssl(std::span<const std::byte> bytes, Sha256& hash) {
  static const OpenSsl kLibrary = load_open_ssl();
  if (kLibrary.EVP_Digest == nullptr) return false;
  unsigned int size = 0;
  return kLibrary.EVP_Digest(bytes.data(), bytes.size(), hash.data(), &size, kLibrary.EVP_sha256(), nullptr) == 1 &&
         size == hash.size();
}

}  // namespace

std::string sha256_hex(std::span<const std::byte> bytes) {
  Sha256 hash{};
  if (bytes.size() < kLongBody || !hash_by_open_ssl(bytes, hash))
    ::crypto_hash_sha256(hash.data(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  std::string digits(hash.size() * 2 + 1, '\0');
  ::sodium_bin2hex(digits.data(), digits.size(), hash.data(), hash.size());
  digits.pop_back();
  return digits;
}

}  // namespace plait::store::s3
