/// The names of striped files: `stripe:NAME?disks=d1,d2&unit=64K`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plait::store::stripe {

inline constexpr std::string_view kScheme = "stripe:";
inline constexpr std::int64_t kDefaultUnit = std::int64_t{64} << 10;
/// Maximum number of components, which are all open while their file is.
inline constexpr std::size_t kMaxDisks = 1000;

/// The parts of such a name.
struct Name {
  std::string path;                ///< path NAME of the description
  std::vector<std::string> disks;  ///< empty if not stated
  std::int64_t unit = 0;           ///< 0 if not stated
  /// Returns the name for errors, without options.
  std::string display_name() const { return "stripe:" + path; }
};

/// Returns true if a name begins with `stripe:`.
bool is_name(std::string_view url);
/// Parses a name. `%XX` in NAME and in the disks is the character with that hexadecimal code.
/// errors  kArgument: there is no NAME, an option is unknown or occurs twice, the unit is not a positive number, a disk
///         has no name, or a `%` is no escape.
Name parse_name(const std::string& url);
/// Replaces the characters that are special in names by `%XX`.
std::string escaped(std::string_view text);

}  // namespace plait::store::stripe
