/// The location of the bytes of an array file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "store/identity.hpp"
#include "store/store.hpp"

namespace plait::store {

/// A store that one process has found under a name, with the data that others need to open and verify it.
struct Location {
  std::string path;     ///< absolute path, because processes may have different working directories
  std::string details;  ///< further data of the driver
  /// Identities of the open files that hold the bytes; empty for new files, which no program replaces.
  std::vector<Identity> files;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, Location>& location) {
  codec(location.path, location.details, location.files);
}

/// A store that was found and is open. The location refers to these files, even if the name is given to others later.
struct OpenLocation {
  Location location;
  std::unique_ptr<Store> store;
};

/// Maximum number of attempts to open a name whose file is being replaced, of some milliseconds each, and maximum
/// number of attempts with the same result.
inline constexpr int kMaxAttempts = 2000;
inline constexpr int kMaxSameAttempts = 20;

/// Checks that this process has opened the files of another one. shown: the name in errors.
/// errors  kSystem, ESTALE: the files differ, because they have been replaced, or because another host has others under
///         the name.
void expect_same_files(const Location& expected, const std::vector<Identity>& found, const std::string& shown);
/// Returns true if files may be those of a location that have been written since.
bool may_be_same_files(const Location& opened, const std::vector<Identity>& found);

}  // namespace plait::store
