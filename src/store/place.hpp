/// Where the bytes of an array file are.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "store/store.hpp"

namespace plait::store {

/// What one process found under a name, and all that others need to open the same.
struct Place {
  std::string path;         ///< absolute: processes may stand in different folders
  std::string description;  ///< the text of a striped file's description; empty: an ordinary file
  /// A name to show.
  std::string url() const { return description.empty() ? path : "stripe:" + path; }
};

/// Looks at an existing file: a path, or a striped file's name.
/// errors  kArgument: a name that cannot be, or that differs from the striped file in its disks or unit.
///         kSystem: it is not there or not permitted, its description is damaged, a component is missing or has another
///         size.
Place find_place(const std::string& url, bool writable);

/// Opens the bytes.  errors  kSystem.
std::unique_ptr<Store> open_place(const Place& place, bool writable);

}  // namespace plait::store
