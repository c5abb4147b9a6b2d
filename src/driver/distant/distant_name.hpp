/// The names of arrays on the ranks' own disks: `distant:NAME?folder=/disk&unit=64K&striped=true`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plait/shared_file.hpp"

namespace plait::driver::distant {

inline constexpr std::string_view kScheme = "distant:";

/// The parts of such a name.
struct Name {
  std::string path;       ///< the path NAME
  std::string folder;     ///< folder on each rank's disk, to which the path is relative; empty if not stated
  std::int64_t unit = 0;  ///< bytes of a stripe; 0 if not stated
  std::optional<bool> striped = std::nullopt;
};

/// Parses a name. `%XX` in NAME and in the folder is the character with that hexadecimal code.
/// errors  kArgument: there is no NAME, an option is unknown or occurs twice, the unit is not a positive number, the
///         value of `striped=` is neither true nor false, or a folder is given with a NAME that is an absolute path.
Name parse_name(const std::string& url);

/// Returns the absolute path of a name in this process. A relative path is relative to the folder of the name; without
/// one, to the folder in PLAIT_DISTANT_FOLDER; without that, to the working directory.
std::string resolve_path(const Name& name);

}  // namespace plait::driver::distant
