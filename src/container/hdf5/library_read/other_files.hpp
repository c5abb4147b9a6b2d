/// Other files that the content of an HDF5 file names: sources of virtual datasets, external storage, external links.
#pragma once

#include <cstdint>
#include <string>

#include "base/errors.hpp"

namespace plait::container::hdf5 {

/// The other files that Plait reads, as the setting PLAIT_HDF5_EXTERNAL states.
enum class FollowRule : std::uint8_t {
  kNone,    ///< none
  kFolder,  ///< those in the folder of the file that names them, or below it
  kAny      ///< all
};

/// Returns the setting.  errors  kArgument: it is neither `folder`, `any` nor `none`.
FollowRule follow_rule();

/// The construct that names the file. The folders in which the library searches depend on it.
enum class Naming : std::uint8_t { kVirtual, kStorage, kLink };

/// The result of find_other_file().
struct OtherFile {
  std::string path;     ///< the path that the library opens
  bool exists = false;  ///< false if the library finds no file
  /// The reason why the file must not be read, as in `../a.h5, which is outside ...`. Messages put it after `in the
  /// file`.
  base::Rejection rejection;
};

/// Finds a file as the library does, and checks that Plait may read it.
/// from: the name of the file that refers to the other file. named: the name by which it does.
OtherFile find_other_file(const std::string& from, const std::string& named, Naming naming, FollowRule rule);

}  // namespace plait::container::hdf5
