/// The location of the bytes of an array file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "store/identity.hpp"
#include "store/store.hpp"

namespace plait::store {

/// Where the bytes of an array file are: what other processes need to open the store that one process has found under a
/// name, and to verify that it is the same one.
struct Location {
  std::string path;     ///< absolute path, because processes may have different working directories
  std::string details;  ///< further data of the driver, such as the description of a striped file
  /// Identities of the open files that hold the bytes; empty for new files, which no program replaces.
  std::vector<Identity> files;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, Location>& location) {
  codec(location.path, location.details, location.files);
}

/// A store that was found and is open. The location refers to the open files, even if other files get their name later.
struct OpenLocation {
  Location location;
  std::unique_ptr<Store> store;
};

/// Maximum number of attempts, of some milliseconds each, to open the same files on all ranks under a name whose file
/// is being replaced.
inline constexpr int kMaxAttempts = 2000;
/// Maximum number of consecutive attempts with the same result: the files then differ permanently.
inline constexpr int kMaxSameAttempts = 20;

/// Checks that this process has opened the same files as the process that made `expected`. found: the identities of the
/// files of this process. display_name: the name in errors.
/// errors  kSystem, ESTALE: the files differ, because they have been replaced, or because another host has others under
///         the name.
void expect_same_files(const Location& expected, const std::vector<Identity>& found, const std::string& display_name);
/// Returns true if the files `found` may be those of a location, perhaps written since then.
bool may_be_same_files(const Location& opened, const std::vector<Identity>& found);

}  // namespace plait::store
