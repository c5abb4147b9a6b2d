#include "store/objects/object_url.hpp"

#include <algorithm>
#include <filesystem>

#include "base/errors.hpp"

namespace plait::store {

namespace {

constexpr std::string_view kSlashes = "://";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
/// Returns true for characters of a scheme (RFC 3986, section 3.1).
bool fits_scheme(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.'; }

}  // namespace

std::string_view url_scheme(std::string_view location) {
  const std::size_t colon = location.find(':');
  if (colon == std::string_view::npos || colon == 0 || !location.substr(colon).starts_with(kSlashes)) return {};
  const std::string_view scheme = location.substr(0, colon);
  return is_letter(scheme[0]) && std::ranges::all_of(scheme, fits_scheme) ? scheme : std::string_view();
}

ObjectUrl parse_object_url(std::string_view url) {
  ObjectUrl parts;
  parts.scheme = url_scheme(url);
  std::string_view rest = url.substr(parts.scheme.size() + kSlashes.size());
  while (rest.ends_with('/')) rest.remove_suffix(1);
  const std::size_t slash = rest.find('/');
  parts.bucket = rest.substr(0, slash);
  if (parts.bucket.empty() || slash == std::string_view::npos)
    base::throw_argument_error(url, ": the name has ", parts.bucket.empty() ? "no bucket" : "no key after the bucket",
                               "; give both, as in ", parts.scheme, "://bucket/data.zarr");
  parts.key = rest.substr(slash + 1);
  for (std::string_view left = parts.key; !left.empty();) {
    const std::string_view part = left.substr(0, left.find('/'));
    if (part.empty() || part == "." || part == "..")
      base::throw_argument_error(url, ": \"", part, "\" is no part of the key of an object; leave it out");
    left.remove_prefix(std::min(left.size(), part.size() + 1));
  }
  return parts;
}

std::string absolute_location(const std::string& location) {
  return is_url(location) ? location : std::filesystem::absolute(location).string();
}

std::string parent_location(const std::string& location) {
  if (!is_url(location)) {
    const std::filesystem::path parent = std::filesystem::path(location).parent_path();
    return parent.has_relative_path() ? parent.string() : std::string();
  }
  const std::size_t key = location.find('/', url_scheme(location).size() + kSlashes.size());
  const std::size_t slash = location.rfind('/');
  return key == std::string::npos || slash == key ? std::string() : location.substr(0, slash);
}

}  // namespace plait::store
