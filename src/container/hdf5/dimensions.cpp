#include "container/hdf5/dimensions.hpp"

#include <array>
#include <cstring>

namespace plait::container::hdf5 {

namespace {

/// What the library gives for a sequence of any length (hvl_t).
struct Sequence {
  std::size_t count = 0;
  void* elements = nullptr;
};

/// Reads an attribute with one sequence or text for each dimension, and calls `take` with them.
template <typename Element, typename Take>
void read_each(const Library& hdf5, Id dataset, const char* name, std::size_t count, const Take& take) {
  if (hdf5->H5Aexists(dataset, name) <= 0) return;
  const Handle attribute(hdf5->H5Aopen(dataset, name, 0), hdf5->H5Aclose);
  if (!attribute) return;
  const Handle type(hdf5->H5Aget_type(attribute.id()), hdf5->H5Tclose);
  const Handle space(hdf5->H5Aget_space(attribute.id()), hdf5->H5Sclose);
  if (!type || !space || hdf5->H5Tget_size(type.id()) != sizeof(Element) ||
      hdf5->H5Sget_simple_extent_npoints(space.id()) != static_cast<long long>(count))
    return;
  std::vector<Element> elements(count);
  if (!take(type.id(), nullptr) || hdf5->H5Aread(attribute.id(), type.id(), elements.data()) < 0) return;
  for (const Element& element : elements) take(type.id(), &element);
  hdf5->H5Dvlen_reclaim(type.id(), space.id(), 0, elements.data());
}

}  // namespace

Dimensions dimensions_of(const Library& hdf5, Id dataset, std::size_t count) {
  Dimensions found;
  if (count == 0) return found;
  const auto has = [&](const char* name) { return hdf5->H5Aexists(dataset, name) > 0; };
  found.is_scale = has("REFERENCE_LIST") || has("_Netcdf4Dimid") || (has("CLASS") && has("NAME"));
  read_each<Sequence>(hdf5, dataset, "DIMENSION_LIST", count, [&](Id type, const Sequence* one) {
    if (one == nullptr) {
      // References of the older kind are addresses.
      if (hdf5->H5Tget_class(type) != kVariable) return false;
      const Handle reference(hdf5->H5Tget_super(type), hdf5->H5Tclose);
      return hdf5->H5Tget_class(reference.id()) == kReference && hdf5->H5Tget_size(reference.id()) == sizeof(Address);
    }
    Address scale = 0;
    if (one->count > 0) std::memcpy(&scale, one->elements, sizeof(scale));
    found.scales.push_back(scale);
    return true;
  });
  read_each<char*>(hdf5, dataset, "DIMENSION_LABELS", count, [&](Id type, char* const* one) {
    if (one == nullptr) return hdf5->H5Tis_variable_str(type) > 0;
    found.labels.emplace_back(*one == nullptr ? "" : *one);
    return true;
  });
  return found;
}

std::string name_of(const Library& hdf5, Id file, Address object) {
  constexpr int kObjectReference = 0;  // H5R_OBJECT
  const Handle opened(hdf5->H5Rdereference2(file, 0, kObjectReference, &object), hdf5->H5Oclose);
  std::array<char, 1024> name{};
  if (!opened || hdf5->H5Iget_name(opened.id(), name.data(), name.size()) <= 0) return {};
  const std::string path(name.data());
  return path.substr(path.rfind('/') + 1);
}

}  // namespace plait::container::hdf5
