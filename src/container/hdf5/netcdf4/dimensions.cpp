// How a dataset refers to its dimensions, and how long an unlimited dimension is.
//
// A dimension scale is a dataset that stands for a dimension. Other datasets refer to scales in three ways, tried in
// this order:
//    DIMENSION_LIST        a list of references to scales for each dimension; the first one counts
//    _Netcdf4Coordinates   the numbers of the dimensions; the scale of number n has the attribute _Netcdf4Dimid = n
//    DIMENSION_LABELS      only names, without scales
// Example: variable t(time, x) has DIMENSION_LIST ((time), (x)): its names are the last parts of the paths of these
// scales. A coordinate variable lat(y, x) is a scale itself and therefore has no DIMENSION_LIST; its
// _Netcdf4Coordinates are (0, 1), so that add() must have seen the scales with these numbers (needs_all()).
//
// The length of an unlimited dimension of netCDF is not stored. It is the length of the longest variable that has the
// dimension: among the variables in the scale's REFERENCE_LIST and those whose extents add() has recorded.
// Example: time is unlimited, a(time) has 5 records and b(time) 3. extend_records() gives b shape (5) and stored_shape
// (3), and its records 3 and 4 read as the fill value.

#include "container/hdf5/netcdf4/dimensions.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "container/netcdf/default_fill.hpp"
#include "plait/layout.hpp"

namespace plait::container::hdf5 {

namespace {

/// Returns the address of the object that a reference of the newer kind refers to; 0 if it is not in the same file.
haddr_t read_reference(const Library& hdf5, hid_t dataset, ObjectReference* reference) {
  if (hdf5->H5Ropen_object == nullptr || hdf5->H5Rget_type(reference) != kObjectReference2) return 0;
  // Opening the object of a reference to another file would open that file, so compare the names first.
  std::array<char, 4096> own_file{};
  std::array<char, own_file.size()> referenced_file{};
  if (hdf5->H5Fget_name(dataset, own_file.data(), own_file.size()) <= 0 ||
      hdf5->H5Rget_file_name(reference, referenced_file.data(), referenced_file.size()) <= 0 ||
      own_file != referenced_file)
    return 0;
  const Handle object(hdf5->H5Ropen_object(reference, 0, 0), hdf5->H5Oclose);
  return object ? hdf5.address(object.id()).value_or(0) : 0;
}

/// An attribute with one sequence or text for each of `count` dimensions.
struct PerDimension {
  const char* name;
  std::size_t count;
};

/// Reads an attribute, and calls `take` for each of its sequences or texts.
/// is_expected: returns false for a type that `take` does not understand. The attribute is then not read.
template <typename Element, typename IsExpected, typename Take>
void read_each(const Library& hdf5, hid_t dataset, PerDimension source, const IsExpected& is_expected,
               const Take& take) {
  if (hdf5->H5Aexists(dataset, source.name) <= 0) return;
  const Handle attribute(hdf5->H5Aopen(dataset, source.name, 0), hdf5->H5Aclose);
  if (!attribute) return;
  const Handle type(hdf5->H5Aget_type(attribute.id()), hdf5->H5Tclose);
  const Handle space(hdf5->H5Aget_space(attribute.id()), hdf5->H5Sclose);
  if (!type || !space || hdf5->H5Tget_size(type.id()) != sizeof(Element) ||
      hdf5->H5Sget_simple_extent_npoints(space.id()) != static_cast<long long>(source.count))
    return;
  std::vector<Element> elements(source.count);
  if (!is_expected(type.id()) || hdf5->H5Aread(attribute.id(), type.id(), elements.data()) < 0) return;
  for (const Element& element : elements) take(element);
  hdf5->H5Dvlen_reclaim(type.id(), space.id(), 0, elements.data());
}

/// Reads integers; none if the attribute is missing or of another type.
std::vector<std::int64_t> read_numbers(const Library& hdf5, hid_t dataset, const char* name) {
  if (hdf5->H5Aexists(dataset, name) <= 0) return {};
  const Handle attribute(hdf5->H5Aopen(dataset, name, 0), hdf5->H5Aclose);
  const Handle type(hdf5->H5Aget_type(attribute.id()), hdf5->H5Tclose);
  const Handle space(hdf5->H5Aget_space(attribute.id()), hdf5->H5Sclose);
  const long long count = space ? hdf5->H5Sget_simple_extent_npoints(space.id()) : 0;
  if (!type || count < 1 || count > kMaxDimensions || hdf5->H5Tget_class(type.id()) != H5T_INTEGER) return {};
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
  if (hdf5->H5Aread(attribute.id(), hdf5->H5T_STD_I64LE_g, numbers.data()) < 0) return {};
  return numbers;
}

/// Reads a text of fixed length; empty if the attribute is missing or of another type.
std::string read_text(const Library& hdf5, hid_t dataset, const char* name) {
  if (hdf5->H5Aexists(dataset, name) <= 0) return {};
  const Handle attribute(hdf5->H5Aopen(dataset, name, 0), hdf5->H5Aclose);
  const Handle type(hdf5->H5Aget_type(attribute.id()), hdf5->H5Tclose);
  const Handle space(hdf5->H5Aget_space(attribute.id()), hdf5->H5Sclose);
  std::array<char, 256> text{};
  if (!attribute || !type || !space || hdf5->H5Tget_class(type.id()) != H5T_STRING ||
      hdf5->H5Tis_variable_str(type.id()) != 0 || hdf5->H5Tget_size(type.id()) >= text.size() ||
      hdf5->H5Sget_simple_extent_npoints(space.id()) != 1 || hdf5->H5Aread(attribute.id(), type.id(), text.data()) < 0)
    return {};
  return text.data();
}

/// Returns the length of a dimension of a dataset; 0 if it has no such dimension.
std::int64_t dimension_length(const Library& hdf5, hid_t dataset, std::size_t dimension) {
  const Handle space(hdf5->H5Dget_space(dataset), hdf5->H5Sclose);
  const int count = space ? hdf5->H5Sget_simple_extent_ndims(space.id()) : 0;
  std::array<hsize_t, kMaxDimensions> extents{};
  if (count > kMaxDimensions || std::cmp_greater_equal(dimension, count) ||
      hdf5->H5Sget_simple_extent_dims(space.id(), extents.data(), nullptr) < 0)
    return 0;
  return static_cast<std::int64_t>(extents[dimension]);
}

/// Opens the object at an address.
Handle dereference(const Library& hdf5, hid_t file, haddr_t object) {
  return {hdf5->H5Rdereference2(file, 0, H5R_OBJECT, &object), hdf5->H5Oclose};
}

/// Returns the part of a path after the last slash.
std::string scale_name(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

}  // namespace

Dimensions read_dimensions(const Library& hdf5, hid_t dataset, haddr_t address, std::size_t count) {
  Dimensions result;
  result.address = address;
  if (count == 0) return result;
  const auto has = [&](const char* name) { return hdf5->H5Aexists(dataset, name) > 0; };
  result.is_scale = has("REFERENCE_LIST") || has("_Netcdf4Dimid") || (has("CLASS") && has("NAME"));
  std::size_t reference_bytes = 0;
  // References of the older kind are addresses; those of the newer kind must be opened.
  const auto is_reference_list = [&](hid_t type) {
    if (hdf5->H5Tget_class(type) != H5T_VLEN) return false;
    const Handle reference(hdf5->H5Tget_super(type), hdf5->H5Tclose);
    reference_bytes = hdf5->H5Tget_size(reference.id());
    return hdf5->H5Tget_class(reference.id()) == H5T_REFERENCE &&
           (reference_bytes == sizeof(haddr_t) || reference_bytes == sizeof(ObjectReference));
  };
  read_each<hvl_t>(hdf5, dataset, {"DIMENSION_LIST", count}, is_reference_list, [&](const hvl_t& references) {
    haddr_t scale = 0;
    if (references.len > 0 && reference_bytes == sizeof(ObjectReference))
      scale = read_reference(hdf5, dataset, static_cast<ObjectReference*>(references.p));
    else if (references.len > 0)
      std::memcpy(&scale, references.p, sizeof(scale));
    result.scales.push_back(scale);
  });
  const auto is_text = [&](hid_t type) { return hdf5->H5Tis_variable_str(type) > 0; };
  read_each<char*>(hdf5, dataset, {"DIMENSION_LABELS", count}, is_text,
                   [&](const char* label) { result.labels.emplace_back(label == nullptr ? "" : label); });
  // A coordinate variable of several dimensions is a scale and therefore has no DIMENSION_LIST.
  result.numbers = read_numbers(hdf5, dataset, "_Netcdf4Coordinates");
  if (result.numbers.size() != count) result.numbers.clear();
  return result;
}

bool Dimensions::needs_numbers() const {
  return !numbers.empty() && (scales.empty() || std::ranges::find(scales, haddr_t{0}) != scales.end());
}

bool is_only_dimension(const Library& hdf5, hid_t dataset) {
  return read_text(hdf5, dataset, "NAME").starts_with("This is a netCDF dimension but not a netCDF variable");
}

bool is_scale(const Library& hdf5, hid_t dataset) { return read_text(hdf5, dataset, "CLASS") == "DIMENSION_SCALE"; }

std::optional<std::int64_t> dimension_number(const Library& hdf5, hid_t scale) {
  const std::vector<std::int64_t> number = read_numbers(hdf5, scale, "_Netcdf4Dimid");
  if (number.size() != 1 || number.front() < 0) return std::nullopt;
  return number.front();
}

std::string variable_path(const std::string& stored) {
  const std::size_t last = stored.rfind('/') + 1;
  if (!std::string_view(stored).substr(last).starts_with(kNonCoordinate)) return stored;
  return stored.substr(0, last) + stored.substr(last + kNonCoordinate.size());
}

std::string non_coordinate_path(std::string_view variable) {
  const std::size_t last = variable.rfind('/') + 1;
  return std::string(variable.substr(0, last)).append(kNonCoordinate).append(variable.substr(last));
}

void ScaleTable::add(hid_t dataset, haddr_t address, const std::string& path) {
  names_.emplace(address, scale_name(path));
  if (hdf5_->H5Aexists(dataset, "CLASS") <= 0) return;  // variables that are no scales may have a _Netcdf4Dimid, too
  const std::vector<std::int64_t> number = read_numbers(hdf5_, dataset, "_Netcdf4Dimid");
  if (number.size() == 1) scales_by_number_.emplace(number.front(), address);
  add_extents(dataset);
}

void ScaleTable::add_extents(hid_t dataset) {
  const std::vector<std::int64_t> numbers = read_numbers(hdf5_, dataset, "_Netcdf4Coordinates");
  if (numbers.size() < 2) return;
  for (std::size_t d = 0; d < numbers.size(); ++d) {
    std::int64_t& longest = longest_extents_[numbers[d]];
    longest = std::max(longest, dimension_length(hdf5_, dataset, d));
  }
}

bool ScaleTable::is_netcdf_scale(hid_t scale) const {
  return hdf5_->H5Aexists(scale, "_Netcdf4Dimid") > 0 || is_only_dimension(hdf5_, scale);
}

const std::string& ScaleTable::name(haddr_t scale) {
  const auto known = names_.find(scale);
  if (known != names_.end()) return known->second;
  const Handle opened = dereference(hdf5_, file_, scale);
  std::array<char, 1024> path{};
  const bool has_name = opened && hdf5_->H5Iget_name(opened.id(), path.data(), path.size()) > 0;
  return names_.emplace(scale, has_name ? scale_name(path.data()) : std::string()).first->second;
}

haddr_t ScaleTable::find_scale(const Dimensions& dimensions, std::size_t d) const {
  if (d < dimensions.scales.size() && dimensions.scales[d] != 0) return dimensions.scales[d];
  if (d >= dimensions.numbers.size()) return 0;
  const auto known = scales_by_number_.find(dimensions.numbers[d]);
  return known == scales_by_number_.end() ? 0 : known->second;
}

std::vector<std::string> ScaleTable::names(const Dimensions& dimensions, std::size_t count) {
  std::vector<std::string> result(count);
  for (std::size_t d = 0; d < count; ++d) {
    if (const haddr_t scale_address = find_scale(dimensions, d); scale_address != 0)
      result[d] = name(scale_address);
    else if (d < dimensions.labels.size())
      result[d] = dimensions.labels[d];
    else if (dimensions.is_scale && count == 1)
      result[d] = name(dimensions.address);
  }
  if (std::ranges::all_of(result, &std::string::empty)) result.clear();
  return result;
}

haddr_t ScaleTable::find_record_scale(const Dimensions& dimensions, std::size_t d) const {
  const haddr_t scale_address = find_scale(dimensions, d);
  return scale_address == 0 && dimensions.is_scale && d == 0 ? dimensions.address : scale_address;
}

bool ScaleTable::needs_all(const Dimensions& dimensions, const HdfDataset& dataset) const {
  if (dimensions.needs_numbers()) return true;
  if (!dimensions.is_scale && dimensions.scales.empty() && dimensions.numbers.empty()) return false;
  return !std::ranges::all_of(dataset.unlimited, [&](std::int64_t d) {
    const haddr_t scale_address = find_record_scale(dimensions, static_cast<std::size_t>(d));
    return scale_address != 0 && cached_records_.find(scale_address).has_value();
  });
}

void ScaleTable::extend_records(const Dimensions& dimensions, HdfDataset& dataset) {
  // netCDF has no elements that are arrays.
  if (dataset.storage != Storage::kChunks || dataset.rejection || dataset.element_dimensions > 0) return;
  const Extents stored = dataset.type.shape;
  for (const std::int64_t unlimited : dataset.unlimited) {
    const auto d = static_cast<std::size_t>(unlimited);
    if (const haddr_t scale_address = find_record_scale(dimensions, d); scale_address != 0)
      dataset.type.shape[d] = std::max(stored[d], records(scale_address));
  }
  if (dataset.type.shape == stored) return;
  dataset.stored_shape = stored;
  if (!dataset.has_own_fill) dataset.missing = netcdf::default_fill(dataset.type.dtype);
  if (!dataset.chunks_fit())
    dataset.rejection = base::Rejection("it has more than 2^63 - 1 bytes, with its missing records");
}

std::int64_t ScaleTable::records(haddr_t scale) {
  const auto known = records_by_scale_.find(scale);
  if (known != records_by_scale_.end()) return known->second;
  std::optional<std::int64_t> longest = cached_records_.find(scale);
  if (!longest) {
    const Handle opened = dereference(hdf5_, file_, scale);
    longest = 0;
    if (opened && is_netcdf_scale(opened.id())) {
      longest = std::max(dimension_length(hdf5_, opened.id(), 0), longest_referring_dataset(opened.id()));
      for (const std::int64_t number : read_numbers(hdf5_, opened.id(), "_Netcdf4Dimid"))
        if (const auto found = longest_extents_.find(number); found != longest_extents_.end())
          longest = std::max(*longest, found->second);
    }
    cached_records_.add(scale, *longest);
  }
  return records_by_scale_.emplace(scale, *longest).first->second;
}

std::int64_t ScaleTable::longest_referring_dataset(hid_t scale) {
  if (hdf5_->H5Aexists(scale, "REFERENCE_LIST") <= 0) return 0;
  struct Reference {
    haddr_t dataset;
    std::int32_t dimension;
    std::int32_t unused;
  };
  const Handle attribute(hdf5_->H5Aopen(scale, "REFERENCE_LIST", 0), hdf5_->H5Aclose);
  const Handle space(hdf5_->H5Aget_space(attribute.id()), hdf5_->H5Sclose);
  const Handle stored(hdf5_->H5Aget_type(attribute.id()), hdf5_->H5Tclose);
  const long long count = space ? hdf5_->H5Sget_simple_extent_npoints(space.id()) : 0;
  if (!stored || count < 1 || hdf5_->H5Tget_class(stored.id()) != H5T_COMPOUND ||
      hdf5_->H5Tget_nmembers(stored.id()) != 2)
    return 0;
  const Handle number(hdf5_->H5Tget_member_type(stored.id(), 1), hdf5_->H5Tclose);
  const Handle type(hdf5_->H5Tcreate(H5T_COMPOUND, sizeof(Reference)), hdf5_->H5Tclose);
  if (!number || hdf5_->H5Tget_size(number.id()) != sizeof(std::int32_t) ||
      hdf5_->H5Tinsert(type.id(), "dataset", 0, hdf5_->H5T_STD_REF_OBJ_g) < 0 ||
      hdf5_->H5Tinsert(type.id(), "dimension", sizeof(haddr_t), number.id()) < 0)
    return 0;
  std::vector<Reference> references(static_cast<std::size_t>(count));
  if (hdf5_->H5Aread(attribute.id(), type.id(), references.data()) < 0) return 0;
  std::int64_t longest = 0;
  for (const Reference& reference : references) {
    const Handle user = dereference(hdf5_, file_, reference.dataset);
    if (user && hdf5_->H5Iget_type(user.id()) == H5I_DATASET && reference.dimension >= 0)
      longest = std::max(longest, dimension_length(hdf5_, user.id(), static_cast<std::size_t>(reference.dimension)));
  }
  return longest;
}

}  // namespace plait::container::hdf5
