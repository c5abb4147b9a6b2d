#include "store/cache/cache_options.hpp"

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "base/errors.hpp"
#include "store/objects/web/web_url.hpp"

namespace plait::store::cache {

namespace {

/// The value of a setting, and the name by which errors refer to its source: a location or an environment variable.
struct Setting {
  std::string value;
  std::string display_name;
};

/// Returns a setting: the option of the location, or else the environment variable; nothing if neither is set.
std::optional<Setting> find_setting(const web::WebUrl& url, const std::string& location, const char* option,
                                    const char* variable) {
  if (!url.scheme.starts_with("http"))
    for (const UrlOption& url_option : url.options)
      if (url_option.key == option) return Setting{url_option.value, location};
  const char* const environment_value = std::getenv(variable);
  if (environment_value != nullptr && *environment_value != '\0') return Setting{environment_value, variable};
  return std::nullopt;
}

}  // namespace

std::optional<Options> find_options(const std::string& location) {
  const web::WebUrl url = web::parse_web_url(location);
  const std::optional<Setting> folder = find_setting(url, location, "cache", "PLAIT_CACHE");
  const std::optional<Setting> size = find_setting(url, location, "cache_size", "PLAIT_CACHE_SIZE");
  if (!folder) {
    if (size && size->display_name == location)
      base::throw_argument_error(location,
                                 ": cache_size= is stated without cache=; add the folder of the cache, as in "
                                 "cache=/var/tmp/me/plait, or leave it out");
    return std::nullopt;
  }
  if (folder->value.empty())
    base::throw_argument_error(location,
                               ": cache= is empty; give a folder, as in cache=/var/tmp/me/plait, or leave it out");
  // The cache has a subfolder, so that files of the user in the stated folder are never taken for entries.
  const std::filesystem::path folder_path = std::filesystem::absolute(folder->value) / "plait-cache-v1";
  Options options{folder_path.lexically_normal().string(), Options::kDefaultBytes};
  if (size) options.max_bytes = parse_bytes_option({"cache_size", size->value}, size->display_name);
  if (options.max_bytes < Options::kMinBytes)
    base::throw_argument_error(size->display_name, ": a cache of ", size->value, " is too small; expected at least 1M");
  return options;
}

}  // namespace plait::store::cache
