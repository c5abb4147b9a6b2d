#include "container/hdf5/links.hpp"

namespace plait::container::hdf5 {

namespace {

int take_link(Id /*group*/, const char* name, const void* info, void* out) {
  // The kind is the first member in all versions.
  static_cast<std::vector<Link>*>(out)->push_back({name, *static_cast<const LinkKind*>(info)});
  return 0;
}

}  // namespace

std::optional<std::vector<Link>> links_of(const Library& hdf5, Id group) {
  const auto iterate = hdf5->H5Literate2 != nullptr ? hdf5->H5Literate2 : hdf5->H5Literate;
  // The order of creation is an error in groups that do not track it.
  for (const int order : {kByCreation, kByName}) {
    std::vector<Link> links;
    if (iterate(group, order, kAscending, nullptr, take_link, &links) >= 0) return links;
  }
  return std::nullopt;
}

}  // namespace plait::container::hdf5
