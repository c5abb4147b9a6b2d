/// The links of a group.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "container/hdf5/library.hpp"

namespace plait::container::hdf5 {

/// A link in a group to an object.
struct Link {
  std::string name;
  H5L_type_t kind;
};

/// Lists the links of a group in the order in which netCDF's library visits them: by creation if the group tracks that,
/// otherwise by name. Returns nothing if the library cannot list them.
std::optional<std::vector<Link>> read_links(const Library& hdf5, hid_t group);

}  // namespace plait::container::hdf5
