// Making a dataset in an existing file.
//
// Problem: the new dataset must be linked into existing groups and refer to existing dimension scales, which refer back
// to it. A netCDF file has one scale for each dimension, with a unique number.
//
// Idea: the library makes all objects in an Overlay. A dataset without chunks gets the space where its elements are
// already stored. Scales are searched for in the group of the dataset and in those above it, as for new files
// (plan_scales).
//
// Example: a netCDF file has time(time) with 10 elements, unlimited, and lat(lat) with 4. temp(time, lat, height) of
// shape 10x4x3 is added. Its scales are time and lat, whose REFERENCE_LISTs get another entry, and a new dimension
// "height" of length 3 with the number 2. The first dimension of temp is unlimited, because time is.

#include "container/hdf5/growth/dataset_creation.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/array_type.hpp"
#include "container/attributes.hpp"
#include "container/hdf5/growth/overlay_driver.hpp"
#include "container/hdf5/library_read/external_links.hpp"
#include "container/hdf5/netcdf4/dimensions.hpp"
#include "container/hdf5/netcdf4/links.hpp"
#include "container/hdf5/writing/object_writer.hpp"

namespace plait::container::hdf5 {

namespace {

using base::text;

/// Returns the part of a path after the last slash.
std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string join_path(const std::string& group, const std::string& name) {
  return group.empty() ? name : group + '/' + name;
}

/// Returns true if an object can have this name in its group.
bool is_object_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

/// A scale in the file.
struct StoredScale {
  std::string path;
  haddr_t address = 0;
};

/// Makes one dataset, see create_dataset().
class DatasetCreator {
 public:
  DatasetCreator(const Library& hdf5, Overlay& overlay, const std::string& path, const DatasetCreation& creation)
      : hdf5_(hdf5),
        overlay_(overlay),
        creation_(creation),
        member_(creation.member),
        group_(parent_group(creation.member.name)),
        file_(hdf5, overlay, path),
        writer_(hdf5, file_.id(), path, creation.is_netcdf),
        links_(hdf5, FollowRule::kNone),
        types_(hdf5, list_root_names()) {}

  /// Makes the dataset and all that it needs. Returns its path.
  std::string create() {
    check_name();
    make_groups();
    const bool becomes_scale = becomes_own_scale();
    const std::vector<std::optional<StoredScale>> scales =
        becomes_scale ? std::vector<std::optional<StoredScale>>() : find_scales();
    const std::string path = has_name_of_dimension_ ? non_coordinate_path(member_.name) : member_.name;
    {
      const Handle type = writer_.make_type(member_, types_);
      const bool is_stored = creation_.offset > 0;  // the elements are in the file already
      if (is_stored)
        overlay_.direct_next_allocation(creation_.offset, *array_bytes(member_.type.shape, member_.type.element_bytes));
      const Handle dataset =
          writer_.make_dataset(member_, path, type.id(), is_stored ? Allocation::kNow : Allocation::kLate);
      overlay_.end_directing();
      if (is_stored && std::cmp_not_equal(hdf5_->H5Dget_offset(dataset.id()), creation_.offset))
        base::throw_system_error(EIO, writer_.display_name(member_.name), " gets other space from ", hdf5_.describe(),
                                 " than that of its elements; the file has its former content");
      if (becomes_scale)
        writer_.write_scale(dataset.id(),
                            {member_.name, member_.type.shape[0], std::size_t{0}, !member_.unlimited.empty()},
                            find_next_number());
      else
        attach(dataset.id(), scales);
    }
    types_.close();  // the library closes a file, and writes much of its metadata, only after its open objects
    file_.close();
    return path;
  }

 private:
  template <typename... Parts>
  [[noreturn]] void reject(const Parts&... parts) const {
    base::throw_argument_error(writer_.display_name(member_.name), " cannot be added: ", parts...);
  }
  /// Returns the names in the root group, which the named types of netCDF must not have.
  std::set<std::string> list_root_names() const {
    std::set<std::string> names{member_.name.substr(0, member_.name.find('/'))};
    names.insert(member_.dimension_names.begin(), member_.dimension_names.end());
    const Handle root = writer_.open("");
    for (const Link& link : read_links(hdf5_, root.id()).value_or(std::vector<Link>())) names.insert(link.name);
    return names;
  }
  /// Opens an object of the file; the result is invalid if there is none.
  Handle open_object(const std::string& name) {
    links_.clear();
    Handle object(hdf5_->H5Oopen(file_.id(), ("/" + name).c_str(), links_.id()), hdf5_->H5Oclose);
    if (links_.rejection()) links_.rejection().raise(writer_.display_name(name), ": ");
    return object;
  }
  /// Returns the kind of an object, such as H5I_GROUP; -1 for an invalid handle.
  int object_kind(const Handle& object) const { return object ? hdf5_->H5Iget_type(object.id()) : -1; }
  bool is_scale(const Handle& object) const {
    return object_kind(object) == H5I_DATASET && hdf5::is_scale(hdf5_, object.id());
  }

  /// errors  kArgument: an object has the name.
  void check_name() {
    const Handle object = open_object(member_.name);
    if (object && is_scale(object) && is_only_dimension(hdf5_, object.id()))
      reject(
          "the file has a dimension of this name without a variable; give the array another name, or copy the file "
          "to a new one");
    if (object)
      reject("the file has a ", object_kind(object) == H5I_GROUP ? "group" : "dataset",
             " of this name already; give the array another name");
    if (open_object(non_coordinate_path(member_.name)))
      reject("the file has a variable of this name already; give the array another name");
  }
  /// Makes the missing groups above the dataset, the uppermost first.
  void make_groups() {
    std::vector<std::string> groups;
    for (std::string group = group_; !group.empty(); group = parent_group(group)) groups.push_back(group);
    for (std::size_t i = groups.size(); i-- > 0;) {
      const Handle object = open_object(groups[i]);
      if (object && object_kind(object) != H5I_GROUP)
        reject('"', groups[i], "\" is not a group in the file; give the array a name in a group");
      if (!object) writer_.make_group(groups[i]);
    }
  }
  /// Returns true if the array becomes the scale of its own dimension.
  bool becomes_own_scale() const {
    const std::vector<std::string>& names = member_.dimension_names;
    if (member_.type.shape.size() != 1 || names.empty() || names.front() != last_part(member_.name)) return false;
    return std::ranges::none_of(std::array{"CLASS", "NAME", "REFERENCE_LIST"}, [&](const char* of_scales) {
      return find_attribute(member_.attributes, of_scales) != nullptr;
    });
  }
  bool is_unlimited(std::size_t d) const {
    return std::ranges::find(member_.unlimited, static_cast<std::int64_t>(d)) != member_.unlimited.end();
  }

  /// Finds the scale of each dimension; in netCDF files makes it if there is none. netCDF's library reads arrays that
  /// have scales for all dimensions or for none.
  std::vector<std::optional<StoredScale>> find_scales() {
    const std::vector<std::string>& names = member_.dimension_names;
    std::vector<std::optional<StoredScale>> found;
    if (creation_.is_netcdf && !std::ranges::all_of(names, is_object_name)) return found;
    for (std::size_t d = 0; d < names.size(); ++d) {
      found.push_back(is_object_name(names[d]) ? find_scale(d) : std::nullopt);
      if (!found.back() && creation_.is_netcdf) found.back() = make_dimension(d);
    }
    return found;
  }
  /// Searches for the scale of dimension `d` in the group of the dataset, then in the groups above it.
  std::optional<StoredScale> find_scale(std::size_t d) {
    for (std::string searched = group_;; searched = parent_group(searched)) {
      const std::string path = join_path(searched, member_.dimension_names[d]);
      if (const Handle object = open_object(path); is_scale(object) && fits_scale(object.id(), path, d))
        return StoredScale{path, writer_.address(object.id(), path)};
      if (searched.empty()) return std::nullopt;
    }
  }
  /// Returns true if the array has the length of a scale in dimension `d`.
  /// errors  kArgument: the file is of netCDF, and the lengths differ.
  bool fits_scale(hid_t scale, const std::string& path, std::size_t d) const {
    const Handle space(hdf5_->H5Dget_space(scale), hdf5_->H5Sclose);
    const int count = space ? hdf5_->H5Sget_simple_extent_ndims(space.id()) : 0;
    if (count < 1 || count > kMaxDimensions) return false;
    std::array<hsize_t, kMaxDimensions> extents{};
    std::array<hsize_t, kMaxDimensions> max_extents{};
    if (hdf5_->H5Sget_simple_extent_dims(space.id(), extents.data(), max_extents.data()) < 0) writer_.fail(path);
    const bool can_grow = max_extents[0] == H5S_UNLIMITED;
    const bool is_equal = std::cmp_equal(extents[0], member_.type.shape[d]);
    if (!creation_.is_netcdf) return is_equal || (can_grow && is_unlimited(d));
    if (!can_grow && !is_equal)
      reject("it has ", member_.type.shape[d], " elements along dimension \"", path, "\", which has ", extents[0],
             " in the file; give the array this length, or the dimension another name");
    if (!can_grow && is_unlimited(d))
      reject("its dimension \"", path, "\" has a fixed length in the file; leave it out of the unlimited dimensions");
    return true;
  }
  /// Makes the scale of a netCDF dimension without a variable.
  StoredScale make_dimension(std::size_t d) {
    const std::string path = join_path(group_, member_.dimension_names[d]);
    if (open_object(path))
      reject("the file has an object \"", path, "\", which is not a dimension; give the dimension another name");
    if (path == member_.name) has_name_of_dimension_ = true;
    const Scale scale{path, member_.type.shape[d], std::nullopt, is_unlimited(d)};
    const std::int64_t number = find_next_number();
    const Handle dataset = writer_.make_dimension(scale);
    writer_.write_scale(dataset.id(), scale, number);
    return {path, writer_.address(dataset.id(), path)};
  }
  /// Returns the number of a new netCDF dimension; -1 if the dimensions in the file have no numbers.
  std::int64_t find_next_number() {
    if (!creation_.is_netcdf) return -1;
    std::int64_t next = 0;
    bool has_unnumbered = false;
    std::set<haddr_t> visited;
    std::vector<std::string> to_visit{""};
    while (!to_visit.empty()) {
      const std::string name = std::move(to_visit.back());
      to_visit.pop_back();
      links_.clear();
      const Handle object(hdf5_->H5Oopen(file_.id(), ("/" + name).c_str(), links_.id()), hdf5_->H5Oclose);
      if (!object || !visited.insert(writer_.address(object.id(), name)).second) continue;
      if (object_kind(object) == H5I_GROUP)
        for (const Link& link : read_links(hdf5_, object.id()).value_or(std::vector<Link>()))
          to_visit.push_back(join_path(name, link.name));
      if (!is_scale(object)) continue;
      const std::optional<std::int64_t> number = dimension_number(hdf5_, object.id());
      has_unnumbered = has_unnumbered || !number;
      next = std::max(next, number.value_or(-1) + 1);
    }
    return next == 0 && has_unnumbered ? -1 : next;
  }
  /// Makes the dataset and its scales refer to each other.
  void attach(hid_t dataset, const std::vector<std::optional<StoredScale>>& scales) {
    const haddr_t address = writer_.address(dataset, member_.name);
    std::vector<haddr_t> addresses;
    for (std::size_t d = 0; d < scales.size(); ++d) {
      addresses.push_back(scales[d] ? scales[d]->address : 0);
      if (!scales[d]) continue;
      const Handle scale = writer_.open("/" + scales[d]->path);
      writer_.add_reference(scale.id(), {address, static_cast<std::uint32_t>(d), 0}, scales[d]->path);
    }
    if (std::ranges::any_of(addresses, [](haddr_t scale) { return scale != 0; }))
      writer_.write_dimension_list(dataset, std::move(addresses), member_.name);
    if (!creation_.is_netcdf || scales.empty()) writer_.write_labels(dataset, member_.dimension_names, member_.name);
  }

  const Library& hdf5_;
  Overlay& overlay_;
  const DatasetCreation& creation_;
  const Member& member_;
  std::string group_;
  OverlayFile file_;
  ObjectWriter writer_;
  ExternalLinks links_;
  NetcdfTypes types_;
  bool has_name_of_dimension_ = false;  ///< true if a new dimension, which is no variable, has the name of the array
};

}  // namespace

std::string create_dataset(const Library& hdf5, Overlay& overlay, const std::string& path,
                           const DatasetCreation& creation) {
  return DatasetCreator(hdf5, overlay, path, creation).create();
}

}  // namespace plait::container::hdf5
