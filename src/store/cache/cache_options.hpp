/// Where fetched bytes of objects are cached, and how many.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace plait::store::cache {

struct Options {
  std::string folder;          ///< absolute path of `plait-cache-v1` in the stated folder; nothing else is in it
  std::int64_t max_bytes = 0;  ///< maximum size of all files in it together

  static constexpr std::int64_t kDefaultBytes = std::int64_t{10} << 30;
  static constexpr std::int64_t kMinBytes = std::int64_t{1} << 20;
};

/// Returns the options of a location, `cache=` and `cache_size=`, or else those of PLAIT_CACHE and PLAIT_CACHE_SIZE;
/// nothing if neither states a folder. The query of an HTTP URL belongs to the server, so for such URLs only the
/// environment counts.
/// errors  kArgument: the size is not a number of bytes, is less than kMinBytes, or is stated without a folder.
std::optional<Options> find_options(const std::string& location);

}  // namespace plait::store::cache
