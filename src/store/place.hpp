/// Where the bytes of an array file are.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "store/posix/identity.hpp"
#include "store/store.hpp"

namespace plait::store {

/// What one process found under a name, and all that others need to open the same and to see that it is the same.
struct Place {
  std::string path;         ///< absolute: processes may stand in different folders
  std::string description;  ///< the text of a striped file's description; empty: an ordinary file
  /// The file, or each component, as the one who found it has it open; empty: a new file, which has no other's name.
  std::vector<posix::Identity> files;
  /// As text for other processes, and back.
  std::string packed() const;
  static Place unpacked(const std::string& packed);
  /// A name to show.
  std::string url() const { return description.empty() ? path : "stripe:" + path; }
};

/// What was found, open: the place speaks of this very file, also where its name is given to another one meanwhile.
struct FoundPlace {
  Place place;
  std::unique_ptr<Store> store;
};

/// Opens an existing file: a path, or a striped file's name.
/// errors  kArgument: a name that cannot be, or that differs from the striped file in its disks or unit.
///         kSystem: it is not there or not permitted, its description is damaged, a component is missing or has another
///         size.
FoundPlace find_place(const std::string& url, bool writable);

/// Opens what another process has found, and has open.  errors  kSystem; ESTALE: another file has its name by now, or
/// another host has another file under the name.
std::unique_ptr<Store> open_place(const Place& place, bool writable);

}  // namespace plait::store
