// Finding the other files that an HDF5 file names.
//
// Problem: the names are in the file, and the file may come from anywhere. The library opens every file that they name,
// so that reading a malicious file could reveal the content of any file of the user. The library also searches several
// folders, the working directory among them.
//
// Idea: list the paths that the library tries, in its order, take the first that exists, and resolve its symbolic
// links. The file may be read if the result is in the folder of the naming file or below it.
//
// Example: /data/run/all.h5 names the source "day1.h5". The library tries /data/run/day1.h5, then day1.h5 in the
// working directory. If only the second exists, it is outside /data/run, and reading all.h5 is an error that names it.
// The sources "../day1.h5" and "/etc/day1.h5" are errors as well; "/data/run/day1.h5" may be read.

#include "container/hdf5/library_read/other_files.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "store/objects/object_url.hpp"

namespace plait::container::hdf5 {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSetting = "PLAIT_HDF5_EXTERNAL";

/// Returns the environment variable that makes the library search other folders first.
const char* prefix_variable(Naming naming) {
  switch (naming) {
    case Naming::kVirtual: return "HDF5_VDS_PREFIX";
    case Naming::kStorage: return "HDF5_EXTFILE_PREFIX";
    case Naming::kLink: return "HDF5_EXT_PREFIX";
  }
  return "";
}

fs::path folder_path(const std::string& from) {
  std::error_code error;
  return fs::absolute(from, error).parent_path();
}

/// Returns the paths that the library tries, in its order.
std::vector<fs::path> list_candidates(const std::string& from, const std::string& named, Naming naming) {
  std::vector<fs::path> paths;
  fs::path name(named);
  if (name.is_absolute()) {
    paths.push_back(name);
    if (naming == Naming::kStorage) return paths;
    name = name.filename();
  }
  paths.push_back(folder_path(from) / name);
  if (naming == Naming::kStorage) return paths;  // LibraryReader sets the folder of the file as the prefix
  std::error_code error;
  paths.push_back(fs::absolute(name, error));
  if (const fs::path real = fs::canonical(from, error); !error) paths.push_back(real.parent_path() / name);
  return paths;
}

/// Returns true if a path is in a folder or below it. Both must be canonical.
bool is_below(const fs::path& path, const fs::path& folder) {
  return std::ranges::mismatch(folder, path).in1 == folder.end();
}

/// Returns the reason why an existing file must not be read under FollowRule::kFolder; empty if it may be read.
base::Rejection location_rejection(const std::string& from, const std::string& named, const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error || !fs::is_regular_file(real, error))
    return base::Rejection::because(named, ", which is no ordinary file; replace it by one");
  const fs::path folder = fs::canonical(folder_path(from), error);
  // If `from` is a symbolic link, the folder of its target counts as well.
  const fs::path target_folder = fs::canonical(from, error).parent_path();
  if (!error && (is_below(real, folder) || is_below(real, target_folder))) return {};
  return base::Rejection::because(named, ", which is outside the folder of ", from, " (", real.string(), "); set ",
                                  kSetting, "=any to read files of other folders");
}

}  // namespace

FollowRule follow_rule() {
  const char* const setting = std::getenv(kSetting);
  const std::string_view value = setting == nullptr ? "" : setting;
  if (value.empty() || value == "folder") return FollowRule::kFolder;
  if (value == "any") return FollowRule::kAny;
  if (value == "none") return FollowRule::kNone;
  base::throw_argument_error(kSetting, " is \"", value, "\"; expected folder, any or none");
}

OtherFile find_other_file(const std::string& from, const std::string& named, Naming naming, FollowRule rule) {
  if (rule == FollowRule::kNone)
    return {
        named, /*exists=*/false,
        base::Rejection::because(named, ", and ", kSetting, " is none; unset it to read other files of the folder")};
  if (store::is_url(from))
    return {named, false,
            base::Rejection::because(named,
                                     ", which Plait does not read for a file in an object store; copy both into "
                                     "one folder and open the copy")};
  const char* const variable = prefix_variable(naming);
  const char* const prefix = std::getenv(variable);
  if (rule == FollowRule::kFolder && prefix != nullptr && *prefix != '\0')
    return {named, false,
            base::Rejection::because(named, ", and ", variable, " names another folder; unset it, or set ", kSetting,
                                     "=any to read files of other folders")};
  const std::vector<fs::path> paths = list_candidates(from, named, naming);
  std::error_code error;
  const auto found = std::ranges::find_if(paths, [&](const fs::path& path) { return fs::exists(path, error); });
  if (found == paths.end()) return {paths.front().string(), false, {}};
  return {found->string(), true,
          rule == FollowRule::kAny ? base::Rejection() : location_rejection(from, named, *found)};
}

}  // namespace plait::container::hdf5
