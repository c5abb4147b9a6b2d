// Loading libcurl, and where its TLS library finds certificates.
//
// A wheel runs on systems whose libcurl has several names, and in containers without any. The Python package pycurl has
// a copy under a name with a hash, in the folder pycurl.libs next to the package plait.
//
// Such a copy has a TLS library that was built elsewhere, so that its default folder of certificates may not exist
// here. Debian, Red Hat, SUSE and Alpine have the file at different paths, and the first one that exists is used.

#include "store/http/curl_library.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <system_error>

#include "base/errors.hpp"
#include "base/text.hpp"

namespace plait::store::http {

namespace {

namespace fs = std::filesystem;

constexpr std::array kLibraryNames{"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.so"};

constexpr std::array kCertificateFiles{
    "/etc/ssl/certs/ca-certificates.crt",                 // Debian
    "/etc/pki/tls/certs/ca-bundle.crt",                   // Red Hat
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Red Hat 7 and later
    "/etc/ssl/ca-bundle.pem",                             // SUSE
    "/etc/ssl/cert.pem",                                  // Alpine
};

/// Returns the copy of libcurl in pycurl.libs next to the Python package with this library; empty if there is none.
std::string find_copy_of_pycurl() {
  Dl_info this_library{};
  if (::dladdr(reinterpret_cast<const void*>(&find_copy_of_pycurl), &this_library) == 0 ||
      this_library.dli_fname == nullptr)
    return {};
  std::error_code error;
  const fs::path package = fs::absolute(this_library.dli_fname, error).parent_path();
  for (const fs::directory_entry& file : fs::directory_iterator(package.parent_path() / "pycurl.libs", error))
    if (file.path().filename().string().starts_with("libcurl")) return file.path().string();
  return {};
}

template <typename Function>
void load_function(void* library, const char* name, Function& function, const std::string& path) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr)
    base::throw_system_error(ELIBACC, "the library ", path, " cannot be used: it has no ", name,
                             "; name a libcurl of version 7.28 or later in PLAIT_CURL");
}

CurlLibrary load_functions(void* library, const std::string& path) {
  CurlLibrary library_functions{};
  library_functions.path = path;
#define PLAIT_CURL_FIND(NAME) load_function(library, #NAME, library_functions.NAME, path)
  PLAIT_CURL_FIND(curl_global_init);
  PLAIT_CURL_FIND(curl_easy_init);
  PLAIT_CURL_FIND(curl_easy_reset);
  PLAIT_CURL_FIND(curl_easy_setopt);
  PLAIT_CURL_FIND(curl_easy_getinfo);
  PLAIT_CURL_FIND(curl_easy_strerror);
  PLAIT_CURL_FIND(curl_multi_init);
  PLAIT_CURL_FIND(curl_multi_cleanup);
  PLAIT_CURL_FIND(curl_multi_setopt);
  PLAIT_CURL_FIND(curl_multi_add_handle);
  PLAIT_CURL_FIND(curl_multi_remove_handle);
  PLAIT_CURL_FIND(curl_multi_perform);
  PLAIT_CURL_FIND(curl_multi_wait);
  PLAIT_CURL_FIND(curl_multi_info_read);
  PLAIT_CURL_FIND(curl_slist_append);
  PLAIT_CURL_FIND(curl_slist_free_all);
#undef PLAIT_CURL_FIND
  library_functions.curl_global_init(kCurlAll);
  return library_functions;
}

CurlLibrary load() {
  const char* setting = std::getenv("PLAIT_CURL");
  if (setting != nullptr && *setting != '\0') {
    if (void* library = ::dlopen(setting, RTLD_NOW | RTLD_LOCAL)) return load_functions(library, setting);
    const char* why = ::dlerror();
    base::throw_system_error(ELIBACC, "PLAIT_CURL=", setting, " cannot be loaded: ", why == nullptr ? "" : why,
                             "; name the file of a libcurl, or unset it");
  }
  std::string names;
  for (const char* name : kLibraryNames) {
    if (void* library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return load_functions(library, name);
    base::append_parts(names, names.empty() ? "" : ", ", name);
  }
  if (const std::string copy = find_copy_of_pycurl(); !copy.empty())
    if (void* library = ::dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL)) return load_functions(library, copy);
  base::throw_system_error(ELIBACC, "object stores need the library libcurl, and there is none (", names,
                           "); install it (Debian: libcurl4, Red Hat: libcurl), or pycurl for Python, or name one in "
                           "PLAIT_CURL");
}

}  // namespace

const CurlLibrary& curl() {
  static const CurlLibrary* const kLibrary = new CurlLibrary(load());  // never unloaded: the client's thread never ends
  return *kLibrary;
}

std::string certificate_file() {
  for (const char* name : {"AWS_CA_BUNDLE", "SSL_CERT_FILE", "CURL_CA_BUNDLE"})
    if (const char* file = std::getenv(name); file != nullptr && *file != '\0') return file;
  for (const char* file : kCertificateFiles)
    if (::access(file, R_OK) == 0) return file;
  return {};
}

}  // namespace plait::store::http
