/// Names with options: `SCHEME:NAME?key=value&key=value`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plait::store {

/// Prefix of raw elements in one ordinary file, regardless of its suffix: `raw:NAME`. NAME is used unchanged.
inline constexpr std::string_view kRaw = "raw:";
inline bool is_raw(std::string_view name) { return name.starts_with(kRaw); }
/// Returns the path of an ordinary file, with or without `raw:` in its name.
inline std::string ordinary_path(const std::string& name) { return is_raw(name) ? name.substr(kRaw.size()) : name; }

/// An option with its value as written.
struct UrlOption {
  std::string key;
  std::string value;
};

/// The parts of a name after the scheme.
struct Url {
  std::string path;  ///< NAME with `%XX` replaced
  std::vector<UrlOption> options;
};

/// Parses the name `url`, which begins with `scheme`. example: a valid name for errors.
/// errors  kArgument: there is no NAME, an option occurs twice, or a `%` is no escape.
Url parse_url(const std::string& url, std::string_view scheme, const std::string& example);

/// Replaces each `%XX` by the character with that hexadecimal code.  errors  kArgument: the message names `url`.
std::string unescaped(std::string_view text, const std::string& url);

/// Returns the parts of a text between separators; an empty text has one empty part.
std::vector<std::string> split(std::string_view text, char separator);

/// Returns the number of bytes in the value of an option: positive, optionally followed by K, M or G.
/// errors  kArgument: the message names `url` and the option.
std::int64_t parse_bytes_option(const UrlOption& option, const std::string& url);

}  // namespace plait::store
