// Describing the groups and datasets of a file by the HDF5 library.

#include "container/hdf5/hdf_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/array_type.hpp"
#include "container/hdf5/element.hpp"
#include "container/hdf5/filters.hpp"
#include "container/hdf5/hdf5_attributes.hpp"
#include "container/hdf5/library_read/sources.hpp"
#include "container/hdf5/netcdf4/group_dimensions.hpp"
#include "container/hdf5/netcdf4/links.hpp"
#include "plait/error.hpp"
#include "plait/layout.hpp"

namespace plait::container::hdf5 {

namespace {

using base::Rejection;
using base::text;

constexpr std::size_t kMaxDepth = 200;  // of groups within groups
constexpr std::size_t kMaxObjects = 1'000'000;

std::string make_display_name(const std::string& path, std::string_view name) { return text(path, "::", name); }

/// Describes the shape of a dataset.
void describe_space(const Library& hdf5, hid_t dataset, HdfDataset& description) {
  const Handle space(hdf5->H5Dget_space(dataset), hdf5->H5Sclose);
  const int kind = space ? hdf5->H5Sget_simple_extent_type(space.id()) : -1;
  if (kind == H5S_SCALAR) return;
  const int count = kind == H5S_SIMPLE ? hdf5->H5Sget_simple_extent_ndims(space.id()) : 0;
  std::array<hsize_t, kMaxDimensions> extents{};
  std::array<hsize_t, kMaxDimensions> max_extents{};
  if (kind != H5S_SIMPLE || count < 0 || count > kMaxDimensions ||
      hdf5->H5Sget_simple_extent_dims(space.id(), extents.data(), max_extents.data()) < 0) {
    description.rejection = Rejection("it has no shape (a null dataspace), and so no elements");
    description.is_null = kind == H5S_NULL;
    return;
  }
  for (int d = 0; d < count; ++d) {
    description.type.shape.push_back(static_cast<std::int64_t>(extents[static_cast<std::size_t>(d)]));
    const hsize_t max = max_extents[static_cast<std::size_t>(d)];
    description.max_shape.push_back(max > hsize_t{INT64_MAX} ? INT64_MAX : static_cast<std::int64_t>(max));
    if (max == H5S_UNLIMITED) description.unlimited.push_back(d);
  }
}

}  // namespace

Handle HdfFile::open_object(const std::string& name, const std::string& display_name) const {
  links_->clear();
  Handle object(hdf5_->H5Oopen(file_.id(), name.c_str(), links_->id()), hdf5_->H5Oclose);
  if (links_->rejection()) links_->rejection().raise(display_name, ": ");
  return object;
}

void HdfFile::throw_missing(const std::string& display_name, int kind) {
  std::string names;
  constexpr std::size_t kMaxNames = 12;
  const std::vector<NamedDataset> datasets = list_datasets_unchecked("");
  for (std::size_t i = 0; i < std::min(datasets.size(), kMaxNames); ++i)
    base::append_parts(names, i == 0 ? "" : ", ", datasets[i].name);
  base::throw_argument_error(display_name,
                             kind == H5I_GROUP ? " is a group"
                             : kind >= 0       ? " is no dataset"
                                               : " is not there",
                             "; ", path_, datasets.empty() ? " holds no dataset" : " holds: ", names,
                             datasets.size() > kMaxNames ? ", ..." : "");
}

void HdfFile::visit_objects(std::string_view top, const Visitor& visitor) {
  std::set<Library::Location> visited;
  std::map<unsigned long, Handle> open_files;
  std::vector<std::string> to_visit{std::string(top)};
  while (!to_visit.empty()) {
    const std::string name = std::move(to_visit.back());
    to_visit.pop_back();
    links_->clear();
    const Handle object(hdf5_->H5Oopen(file_.id(), ("/" + name).c_str(), links_->id()), hdf5_->H5Oclose);
    if (!object && name == top) throw_damaged(name.empty() ? "the root group" : text("the object \"", name, '"'));
    if (links_->is_missing()) continue;  // the target file does not exist: skip it, like a dangling soft link
    haddr_t address = HADDR_UNDEF;
    if (object) {
      const std::optional<Library::Location> location = hdf5_.location(object.id());
      if (!location) throw_damaged("an object");
      // Skip an object that another link has led to.
      if (!visited.insert(*location).second) continue;
      if (location->file == file_number_)
        address = location->address;
      else if (!open_files.contains(location->file))  // stays open, because reopening a file changes its number
        open_files.emplace(location->file, Handle(hdf5_->H5Iget_file_id(object.id()), hdf5_->H5Fclose));
    }
    const int kind = object ? hdf5_->H5Iget_type(object.id()) : -1;
    visitor(name, object.id(), address, kind);
    if (kind != H5I_GROUP) continue;
    if (static_cast<std::size_t>(std::ranges::count(name, '/')) > kMaxDepth || visited.size() > kMaxObjects)
      base::throw_system_error(0, path_, ": its groups are nested deeper than ", kMaxDepth, ", or hold more than ",
                               kMaxObjects, " objects; name one");
    const std::optional<std::vector<Link>> links = read_links(hdf5_, object.id());
    if (!links) {
      if (name == top) throw_damaged(text("the group \"/", name, '"'));
      visitor(name, -1, HADDR_UNDEF, -1);
      continue;
    }
    // The stack is last-in, first-out: push the links in reverse order.
    for (auto link = links->rbegin(); link != links->rend(); ++link)
      if (link->kind == H5L_TYPE_HARD || (link->kind == H5L_TYPE_EXTERNAL && links_->rule() != FollowRule::kNone))
        to_visit.push_back(name.empty() ? link->name : text(name, '/', link->name));
  }
}

std::vector<NamedDataset> HdfFile::list_datasets_unchecked(std::string_view group) {
  groups_.clear();
  is_listing_ = true;
  std::vector<NamedDataset> result;
  while (group.starts_with('/')) group.remove_prefix(1);
  while (group.ends_with('/')) group.remove_suffix(1);
  std::string top(group);
  if (!top.empty()) {
    const auto [object, stored] = open_array(top);
    if (!object) throw_missing(make_display_name(path_, top), -1);
    is_listing_ = hdf5_->H5Iget_type(object.id()) != H5I_DATASET;
    top = stored;
  }
  std::vector<Dimensions> dimensions;  // the dimensions of each dataset in `result`
  ScaleTable scales(hdf5_, file_.id(), record_counts());
  GroupDimensions group_dimensions(hdf5_);
  visit_objects(top, [&](const std::string& name, hid_t object, haddr_t address, int kind) {
    if (kind == H5I_GROUP) groups_.push_back({name, read_attributes(hdf5_, object, is_netcdf_)});
    if (kind < 0) {
      result.emplace_back(name).dataset.rejection =
          links_->rejection() ? links_->rejection() : Rejection::because("it cannot be opened", hdf5_.last_error());
      dimensions.emplace_back();
    }
    if (kind != H5I_DATASET) return;
    if (address != HADDR_UNDEF) {
      scales.add(object, address, name);
      group_dimensions.add(object, address, name);
    }
    if (is_only_dimension(hdf5_, object)) return;
    NamedDataset& named = result.emplace_back(name);
    named.dataset = describe_or_reject(object, address == HADDR_UNDEF, named.name);
    named.attributes = read_attributes(hdf5_, object, is_netcdf_);
    dimensions.push_back(address == HADDR_UNDEF
                             ? Dimensions()
                             : read_dimensions(hdf5_, object, address, named.dataset.stored_dimensions()));
  });
  bool needs_all = false;
  for (std::size_t i = 0; i < result.size(); ++i)
    needs_all = needs_all || scales.needs_all(dimensions[i], result[i].dataset);
  if (!top.empty() && needs_all) add_all_scales(scales);
  for (std::size_t i = 0; i < result.size(); ++i) {
    HdfDataset& dataset = result[i].dataset;
    dataset.dimension_names = scales.names(dimensions[i], dataset.stored_dimensions());
    if (!dataset.dimension_names.empty()) dataset.dimension_names.resize(dataset.type.shape.size());
    scales.extend_records(dimensions[i], dataset);
  }
  if (top.empty()) group_dimensions.assign(groups_, scales);
  name_variables(result);
  return result;
}

void HdfFile::name_variables(std::vector<NamedDataset>& datasets) const {
  if (std::ranges::none_of(datasets,
                           [](const NamedDataset& dataset) { return variable_path(dataset.name) != dataset.name; }))
    return;
  std::set<std::string> names;
  for (const NamedDataset& dataset : datasets) names.insert(dataset.name);
  for (const GroupAttributes& group : groups_) names.insert(group.group);
  for (NamedDataset& dataset : datasets) {
    std::string variable = variable_path(dataset.name);
    if (!variable.empty() && !variable.ends_with('/') && !names.contains(variable)) dataset.name = std::move(variable);
  }
}

void HdfFile::add_all_scales(ScaleTable& scales) {
  visit_objects("", [&](const std::string& name, hid_t object, haddr_t address, int kind) {
    if (kind == H5I_DATASET && address != HADDR_UNDEF) scales.add(object, address, name);
  });
}

std::pair<Handle, std::string> HdfFile::open_array(std::string_view name) const {
  std::string path(name);
  const std::string display_name = make_display_name(path_, name);
  Handle object = open_object("/" + path, display_name);
  const bool is_dimension =
      object && hdf5_->H5Iget_type(object.id()) == H5I_DATASET && is_only_dimension(hdf5_, object.id());
  if (object && !is_dimension) return {std::move(object), std::move(path)};
  std::string stored = non_coordinate_path(path);
  if (Handle variable = open_object("/" + stored, display_name); variable)
    return {std::move(variable), std::move(stored)};
  if (is_dimension)
    base::throw_argument_error(display_name,
                               " is a dimension without a variable, and so has no elements; name a variable");
  return {std::move(object), std::move(path)};
}

HdfDataset HdfFile::describe_dataset_unchecked(std::string_view name) {
  is_listing_ = false;
  while (name.starts_with('/')) name.remove_prefix(1);
  const std::string display_name = make_display_name(path_, name);
  const auto [object, stored] = open_array(name);
  const int kind = object ? hdf5_->H5Iget_type(object.id()) : -1;
  if (kind != H5I_DATASET) throw_missing(display_name, kind);
  const std::optional<Library::Location> location = hdf5_.location(object.id());
  if (!location) throw_damaged("an object");
  const bool is_outside = location->file != file_number_;
  HdfDataset dataset = describe(object.id(), is_outside, display_name);
  if (!dataset.unlimited.empty() && !is_outside) {
    ScaleTable scales(hdf5_, file_.id(), record_counts());
    const Dimensions dimensions = read_dimensions(hdf5_, object.id(), location->address, dataset.stored_dimensions());
    if (scales.needs_all(dimensions, dataset)) add_all_scales(scales);
    scales.extend_records(dimensions, dataset);
  }
  if (dataset.rejection) dataset.rejection.raise(display_name, ": ");
  dataset.attributes = read_attributes(hdf5_, object.id(), is_netcdf_);
  dataset.path = stored;
  dataset.header = static_cast<std::int64_t>(location->address);
  if (dataset.storage == Storage::kChunks && dataset.library_reason.empty()) {
    read_index(object.id(), dataset, display_name);
    describe_file(dataset);
  } else if (dataset.type.has_texts()) {
    describe_file(dataset);
  }
  return dataset;
}

HdfDataset HdfFile::describe_or_reject(hid_t dataset, bool is_outside, const std::string& name) const {
  try {
    return describe(dataset, is_outside, make_display_name(path_, name));
  } catch (const Error& error) {
    check_requests(ranges_.get());
    if (error.system_code() != EIO) throw;
    HdfDataset unreadable;
    unreadable.rejection = Rejection::because("it cannot be read", hdf5_.last_error());
    return unreadable;
  }
}

HdfDataset HdfFile::describe(hid_t dataset, bool is_outside, const std::string& display_name) const {
  HdfDataset result;
  const Handle properties(hdf5_->H5Dget_create_plist(dataset), hdf5_->H5Pclose);
  const Handle type(hdf5_->H5Dget_type(dataset), hdf5_->H5Tclose);
  if (!properties || !type) throw_damaged(text("the dataset ", display_name));
  Element element = to_element(hdf5_, type.id());
  result.type_name = std::move(element.description);
  result.rejection = std::move(element.rejection);
  result.type.dtype = std::move(element.dtype);
  result.type.element_bytes = element.bytes;
  result.padded_texts = std::move(element.texts);
  describe_space(hdf5_, dataset, result);
  result.stored_bytes = stored_bytes(dataset, properties.id(), result.type.shape.size());
  append_dimensions(result, element.shape);
  const auto reject = [&](const char* reason) {
    if (!result.rejection) result.rejection = Rejection(reason);
  };
  switch (hdf5_->H5Pget_layout(properties.id())) {
    case H5D_CONTIGUOUS:
      // In files with a user block, the library adds the size of that block to HADDR_UNDEF.
      if (const haddr_t offset = hdf5_->H5Dget_offset(dataset); offset != HADDR_UNDEF && result.stored_bytes > 0) {
        result.storage = Storage::kContiguous;
        result.offset = static_cast<std::int64_t>(offset);
      }
      break;
    case H5D_COMPACT: result.storage = Storage::kCompact; break;
    case H5D_CHUNKED:
      result.storage = Storage::kChunks;
      describe_chunks(properties.id(), result, display_name);
      break;
    case H5D_VIRTUAL: break;
    default: reject("its layout is of a kind that Plait does not read; copy it by h5repack"); break;
  }
  if (!element.conversion.empty() && result.element_dimensions > 0)
    reject("its elements are arrays of numbers with unused bits; use h5py for it");
  else if (!element.conversion.empty())
    add_library_reason(result, element.conversion);
  choose_copier(dataset, element.unread_reason, is_outside, result);
  choose_reader(dataset, properties.id(), is_outside, result);
  if (result.rejection) return result;
  const std::optional<std::int64_t> bytes = array_bytes(result.type.shape, result.type.element_bytes);
  if (!bytes) {
    result.rejection = Rejection("it has more than 2^63 - 1 bytes");
    return result;
  }
  if (!result.library_reason.empty() && (result.type.has_texts() || result.element_dimensions > 0)) {
    result.rejection =
        Rejection(text("its elements are ", result.type.has_texts() ? "texts of any length" : "arrays",
                       " that only HDF5's library can read (", result.library_reason, "); use h5py for it"));
    return result;
  }
  if (result.type.has_texts()) {
    describe_texts(type.id(), properties.id(), result);
    return result;
  }
  const Handle memory = make_memory_type(hdf5_, type.id(), result.type.dtype, !element.conversion.empty());
  read_fill(memory.id(), properties.id(), result);
  if (result.storage == Storage::kCompact) {
    result.compact_data.resize(static_cast<std::size_t>(*bytes));
    if (*bytes > 0 && hdf5_->H5Dread(dataset, memory.id(), 0, 0, 0, result.compact_data.data()) < 0)
      throw_damaged(text("the dataset ", display_name));
    result.pad_with_null(result.compact_data);
  }
  return result;
}

void HdfFile::describe_chunks(hid_t properties, HdfDataset& description, const std::string& display_name) const {
  std::array<hsize_t, kMaxDimensions> extents{};
  const int count = hdf5_->H5Pget_chunk(properties, kMaxDimensions, extents.data());
  if (count < 0 || static_cast<std::size_t>(count) != description.stored_dimensions())
    throw_damaged(text("the chunks of ", display_name));
  for (int d = 0; d < count; ++d)
    description.chunk.push_back(static_cast<std::int64_t>(extents[static_cast<std::size_t>(d)]));
  description.chunk.insert(description.chunk.end(), description.type.shape.end() - description.element_dimensions,
                           description.type.shape.end());
  unsigned options = 0;
  hdf5_->H5Pget_chunk_opts(properties, &options);
  description.filters_edge_chunks = (options & H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS) == 0;
  const int filters = hdf5_->H5Pget_nfilters(properties);
  for (int i = 0; i < filters; ++i) {
    std::array<unsigned, 64> values{};
    std::array<char, 128> name{};
    std::size_t value_count = values.size();
    unsigned flags = 0;
    unsigned config = 0;
    const hid_t id = hdf5_->H5Pget_filter2(properties, static_cast<unsigned>(i), &flags, &value_count, values.data(),
                                           name.size(), name.data(), &config);
    if (id < 0) throw_damaged(text("the filters of ", display_name));
    Filter& filter = description.filters.emplace_back();
    filter.id = static_cast<std::uint32_t>(id);
    filter.values.assign(values.begin(),
                         values.begin() + static_cast<std::ptrdiff_t>(std::min(value_count, values.size())));
    name.back() = '\0';
    filter.name = name.data();
    if (!filter_rejection(filter)) continue;
    add_library_reason(description, text("filter ", describe_filter(filter)));
    if (!description.rejection)
      description.rejection = library_filter_rejection(hdf5_, filter.id, describe_filter(filter));
  }
  if (description.rejection) return;
  const std::optional<std::int64_t> bytes = array_bytes(description.chunk, description.type.element_bytes);
  if (bytes.value_or(0) == 0 || !description.chunks_fit())
    description.rejection = Rejection("its chunks have no bytes, or more than 2^63 - 1 in all");
  else if (*bytes > kMaxFilteredChunkBytes && !description.filters.empty())
    description.rejection = Rejection::because("its chunks have ", *bytes, " bytes, and Plait unpacks at most ",
                                               kMaxFilteredChunkBytes, "; copy it by h5repack into smaller ones");
}

}  // namespace plait::container::hdf5
