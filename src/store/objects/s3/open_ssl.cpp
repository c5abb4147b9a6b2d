// OpenSSL is loaded when the first long body is hashed, because only users of object stores need it. Python and most
// copies of libcurl have loaded it before.

#include "store/objects/s3/open_ssl.hpp"

#include <dlfcn.h>

namespace plait::store::s3 {

namespace {

/// The functions of OpenSSL 1.1 and 3 that compute a hash; nullptr if there is no such library.
struct OpenSsl {
  const void* (*EVP_sha256)() = nullptr;
  const void* (*EVP_md5)() = nullptr;
  int (*EVP_Digest)(const void*, std::size_t, unsigned char*, unsigned int*, const void*, void*) = nullptr;
};

OpenSsl load_open_ssl() {
  for (const char* name : {"libcrypto.so.3", "libcrypto.so.1.1"}) {
    void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    OpenSsl found;
    found.EVP_sha256 = reinterpret_cast<decltype(found.EVP_sha256)>(::dlsym(library, "EVP_sha256"));
    found.EVP_md5 = reinterpret_cast<decltype(found.EVP_md5)>(::dlsym(library, "EVP_md5"));
    found.EVP_Digest = reinterpret_cast<decltype(found.EVP_Digest)>(::dlsym(library, "EVP_Digest"));
    if (found.EVP_sha256 != nullptr && found.EVP_Digest != nullptr) return found;
  }
  return {};
}

}  // namespace

bool hash_by_open_ssl(HashFunction function, std::span<const std::byte> bytes, std::span<unsigned char> hash) {
  static const OpenSsl kLibrary = load_open_ssl();
  const auto make_function = function == HashFunction::kSha256 ? kLibrary.EVP_sha256 : kLibrary.EVP_md5;
  if (kLibrary.EVP_Digest == nullptr || make_function == nullptr) return false;
  unsigned int size = 0;
  return kLibrary.EVP_Digest(bytes.data(), bytes.size(), hash.data(), &size, make_function(), nullptr) == 1 &&
         size == hash.size();
}

}  // namespace plait::store::s3
