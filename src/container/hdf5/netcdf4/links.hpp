/// The links of a group.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "container/hdf5/library.hpp"

namespace plait::container::hdf5 {

struct Link {
  std::string name;
  H5L_type_t kind;
};

/// In the order in which netCDF's library goes through them: by their creation if the group tracks that, else by their
/// names.  Nothing if the library cannot list them.
std::optional<std::vector<Link>> links_of(const Library& hdf5, hid_t group);

}  // namespace plait::container::hdf5
