/// The names of arrays on the ranks' own disks: `distant:NAME?folder=/disk&unit=64K&place=striped`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plait/shared_file.hpp"

namespace plait::driver::distant {

inline constexpr std::string_view kScheme = "distant:";

/// What such a name says.
struct Name {
  std::string path;       ///< NAME
  std::string folder;     ///< empty: not stated
  std::int64_t unit = 0;  ///< 0: not stated
  SharedFilePlace place = SharedFilePlace::kDetect;
};

/// `%XX` in NAME and in the folder stands for the character with that hexadecimal code.
/// errors  kArgument: no NAME, an option that is not known or stands twice, a unit that is no positive number, a place
///         that is not known, a folder beside a NAME that is an absolute path.
Name parse_name(const std::string& url);

/// The absolute path that a name stands for, in this process: from its folder on, or from that of PLAIT_DISTANT_FOLDER,
/// or from the working folder.
std::string path_of(const Name& name);

}  // namespace plait::driver::distant
