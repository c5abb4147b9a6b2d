/// Where the bytes of an array file are.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "store/identity.hpp"
#include "store/store.hpp"

namespace plait::store {

/// What one process found under a name, and all that others need to open the same and to see that it is the same.
struct Location {
  std::string path;     ///< absolute: processes may stand in different folders
  std::string details;  ///< what else its driver has to say
  /// The files that hold the bytes, as the one who found them has them open; empty: new ones, which nobody replaces.
  std::vector<Identity> files;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, Location>& location) {
  codec(location.path, location.details, location.files);
}

/// What was found, open: the location speaks of this very file, also where its name is given to another one meanwhile.
struct Found {
  Location location;
  std::unique_ptr<Store> store;
};

/// How often ranks look for a name anew whose file is being replaced while they open it, some milliseconds each, and how
/// often though they see nothing new.
inline constexpr int kMostAttempts = 2000;
inline constexpr int kMostSameAttempts = 20;

/// errors  kSystem, ESTALE: the files that this process has open are not those that another one found, because they
///         have been replaced, or because another host has others under the name.  `shown` is the name for errors.
void expect_same_files(const Location& expected, const std::vector<Identity>& found, const std::string& shown);
/// Whether files may be those of a location, which have been written since.
bool may_be_same_files(const Location& opened, const std::vector<Identity>& found);

}  // namespace plait::store
