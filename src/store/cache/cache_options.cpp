#include "store/cache/cache_options.hpp"

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "base/errors.hpp"
#include "store/objects/web/web_url.hpp"

namespace plait::store::cache {

namespace {

/// The value of a setting, and the name by which errors refer to it: a location or an environment variable.
struct Stated {
  std::string value;
  std::string shown;
};

std::optional<Stated> find_stated(const web::WebUrl& url, const std::string& location, const char* option,
                                  const char* variable) {
  if (!url.scheme.starts_with("http"))
    for (const UrlOption& one : url.options)
      if (one.key == option) return Stated{one.value, location};
  const char* const set = std::getenv(variable);
  if (set != nullptr && *set != '\0') return Stated{set, variable};
  return std::nullopt;
}

}  // namespace

std::optional<Options> find_options(const std::string& location) {
  const web::WebUrl url = web::parse_web_url(location);
  const std::optional<Stated> folder = find_stated(url, location, "cache", "PLAIT_CACHE");
  const std::optional<Stated> size = find_stated(url, location, "cache_size", "PLAIT_CACHE_SIZE");
  if (!folder) {
    if (size && size->shown == location)
      base::throw_argument_error(location,
                                 ": cache_size= is stated without cache=; add the folder of the cache, as in "
                                 "cache=/var/tmp/me/plait, or leave it out");
    return std::nullopt;
  }
  if (folder->value.empty())
    base::throw_argument_error(location,
                               ": cache= is empty; give a folder, as in cache=/var/tmp/me/plait, or leave it out");
  // The cache has a subfolder, so that files of the user in the stated folder are never taken for entries.
  const std::filesystem::path own = std::filesystem::absolute(folder->value) / "plait-cache-v1";
  Options found{own.lexically_normal().string(), Options::kDefaultBytes};
  if (size) found.max_bytes = parse_bytes_option({"cache_size", size->value}, size->shown);
  if (found.max_bytes < Options::kMinBytes)
    base::throw_argument_error(size->shown, ": a cache of ", size->value, " is too small; expected at least 1M");
  return found;
}

}  // namespace plait::store::cache
