// Listing links by the function that the loaded library has.

#include "container/hdf5/netcdf4/links.hpp"

namespace plait::container::hdf5 {

namespace {

template <typename Info>
herr_t append_link(hid_t /*group*/, const char* name, const Info* info, void* out) {
  static_cast<std::vector<Link>*>(out)->push_back({name, info->type});
  return 0;
}

bool list_links(const Library& hdf5, hid_t group, H5_index_t order, std::vector<Link>& links) {
  if (hdf5->H5Literate2 != nullptr)
    return hdf5->H5Literate2(group, order, H5_ITER_INC, nullptr, append_link<LinkInfo2>, &links) >= 0;
  return hdf5->H5Literate(group, order, H5_ITER_INC, nullptr, append_link<LinkInfo>, &links) >= 0;
}

}  // namespace

std::optional<std::vector<Link>> read_links(const Library& hdf5, hid_t group) {
  // Listing by creation fails for groups that do not track it; then list by name.
  for (const H5_index_t order : {H5_INDEX_CRT_ORDER, H5_INDEX_NAME}) {
    std::vector<Link> links;
    if (list_links(hdf5, group, order, links)) return links;
  }
  return std::nullopt;
}

}  // namespace plait::container::hdf5
