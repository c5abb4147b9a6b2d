/// Locations of objects on servers: `SCHEME://AUTHORITY?OPTIONS/KEY`.
///
/// Users write options at the end of a name, `s3://bucket/data.zarr?region=eu-west-1::/group/a`. Locations have them
/// before the key, with each `/` as `%2F`, so that the location of an object is that of its folder with a name after
/// it: `s3://bucket?region=eu-west-1/data.zarr/group/a`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "store/url.hpp"

namespace plait::store::web {

struct WebUrl {
  std::string scheme;
  std::string authority;           ///< a bucket, or a host with its port
  std::string query;               ///< the options as they are written
  std::vector<UrlOption> options;  ///< the same with `%XX` resolved
  std::string key;
};

/// Splits a location.  errors  kArgument: an option occurs twice, or a `%` is no escape.
WebUrl parse_web_url(const std::string& location);

/// Returns a name with its options before the key. A name that has them there is returned unchanged.
std::string with_options_first(const std::string& name);

/// Returns a name with an option, before the key. It replaces the value that the name states.
/// Example: `s3://b/a.zarr?consolidated=false::x` becomes `s3://b?consolidated=true/a.zarr::x`.
std::string with_option(const std::string& name, const std::string& key, const std::string& value);

/// Returns a text without the secrets of the URLs in it: each query of an HTTP URL, which may have a signature or a
/// token, and each user and password are replaced by `...`. Messages and names leave the library through it.
/// Example: `https://h/a.npy?sig=x: not found` becomes `https://h/a.npy?...: not found`.
std::string without_secrets(std::string text);

/// Returns a location without its options, and without secrets: the name of an object in a trace.
/// Example: `s3://b?region=eu-west-1/a.npy` becomes `s3://b/a.npy`.
std::string without_options(std::string location);

}  // namespace plait::store::web
