/// Locations in object stores: `SCHEME://BUCKET/KEY`. Any other location is a path.
#pragma once

#include <string>
#include <string_view>

namespace plait::store {

/// The parts of a URL such as `memory://trial/run/a.zarr`.
struct ObjectUrl {
  std::string_view scheme;  ///< `memory`
  std::string_view bucket;  ///< `trial`
  std::string_view key;     ///< `run/a.zarr`
};

/// Returns the scheme of a URL; empty for a path. Example: `host:a//b` and `data.zarr::/s3://a` are paths.
std::string_view url_scheme(std::string_view location);
inline bool is_url(std::string_view location) { return !url_scheme(location).empty(); }

/// Splits a URL, ignoring slashes at its end.
/// errors  kArgument: no bucket or no key, or a part of the key is empty, `.` or `..`.
ObjectUrl parse_object_url(std::string_view url);

/// Returns a location that does not depend on the working directory.
std::string absolute_location(const std::string& location);
/// Returns the location above a location: `memory://trial/run` for `memory://trial/run/a.zarr`. The result is empty for
/// `memory://trial/run`, because a bucket alone is no location, and for a path without a folder.
std::string parent_location(const std::string& location);

}  // namespace plait::store
