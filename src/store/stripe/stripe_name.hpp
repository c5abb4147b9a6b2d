/// The names of striped files: `stripe:NAME?disks=d1,d2&unit=64K`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plait::store::stripe {

inline constexpr std::string_view kScheme = "stripe:";
inline constexpr std::int64_t kDefaultUnit = std::int64_t{64} << 10;
/// Component files stay open while their file is.
inline constexpr std::size_t kMostDisks = 1000;

/// What such a name says.
struct Name {
  std::string path;                ///< NAME, the description
  std::vector<std::string> disks;  ///< empty: not told
  std::int64_t unit = 0;           ///< 0: not told
  std::string shown() const { return "stripe:" + path; }
};

/// Whether a name begins with `stripe:`.
bool is_name(std::string_view url);
/// `%XX` in NAME and in the disks stands for the character with that hexadecimal code.
/// errors  kArgument: no NAME, an option that is not known or stands twice, a unit that is no positive number, a disk
///         without a name, a `%` that is no escape.
Name parse_name(const std::string& url);
/// The text with what has a meaning in names as `%XX`.
std::string escaped(std::string_view text);

}  // namespace plait::store::stripe
