/// Names with options: `SCHEME:NAME?key=value&key=value`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plait::store {

/// Raw elements in one ordinary file, whatever its name looks like: `raw:NAME`, which is taken as it stands.
inline constexpr std::string_view kRaw = "raw:";
inline bool is_raw(std::string_view name) { return name.starts_with(kRaw); }
/// The path of an ordinary file with or without `raw:`.
inline std::string ordinary_path(const std::string& name) { return is_raw(name) ? name.substr(kRaw.size()) : name; }

/// One option, its value as it stands there.
struct UrlOption {
  std::string key;
  std::string value;
};

/// What stands behind the scheme.
struct Url {
  std::string path;  ///< NAME, with `%XX` resolved
  std::vector<UrlOption> options;
};

/// errors  kArgument: no NAME, an option that stands twice, a `%` that is no escape.  `example` says how such a name
///         looks.
Url parse_url(const std::string& url, std::string_view scheme, const std::string& example);

/// The text with each `%XX` as the character with that hexadecimal code.  errors  kArgument: names `url`.
std::string unescaped(std::string_view text, const std::string& url);

/// The parts of a text between separators; one empty part of an empty text.
std::vector<std::string> split(std::string_view text, char separator);

/// The bytes that the value of an option says: above 0, with K, M or G behind it or without.
/// errors  kArgument: names `url` and the option.
std::int64_t bytes_of_option(const UrlOption& option, const std::string& url);

}  // namespace plait::store
