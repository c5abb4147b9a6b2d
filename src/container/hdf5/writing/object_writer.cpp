// Making groups, datasets and dimension scales by the HDF5 library, as netCDF's library and h5py expect them.

#include "container/hdf5/writing/object_writer.hpp"

#include <algorithm>
#include <cerrno>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/fill_value.hpp"
#include "container/hdf5/filters.hpp"
#include "container/hdf5/writing/new_attributes.hpp"
#include "container/hdf5/writing/new_type.hpp"
#include "container/npy/record_type.hpp"

namespace plait::container::hdf5 {

namespace {

using base::text;

/// Maximum number of entries of a REFERENCE_LIST: an entry has 16 bytes, and an attribute at most 64 KiB.
constexpr std::size_t kMaxReferences = 4000;
constexpr const char* kReferenceList = "REFERENCE_LIST";

/// Makes a property list.
Handle make_list(const Library& hdf5, hid_t kind) { return {hdf5->H5Pcreate(kind), hdf5->H5Pclose}; }

/// Makes a dataspace of that shape, in which the `unlimited` dimensions may grow.
Handle make_extendable_space(const Library& hdf5, const Extents& shape, const std::vector<std::int64_t>& unlimited) {
  if (unlimited.empty()) return make_space(hdf5, shape);
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  std::vector<hsize_t> max_extents = extents;
  for (const std::int64_t d : unlimited) max_extents[static_cast<std::size_t>(d)] = H5S_UNLIMITED;
  return {hdf5->H5Screate_simple(static_cast<int>(extents.size()), extents.data(), max_extents.data()), hdf5->H5Sclose};
}

}  // namespace

void check_object_name(const std::string& name, const std::string& display_name) {
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = std::string_view(name).substr(begin, end - begin);
    if (part.empty() || part == "." || part == ".." || part.find('\0') != std::string_view::npos)
      base::throw_argument_error(display_name, ": \"", part,
                                 "\" is no part of the name of a dataset; give a name such as /group/array");
    begin = end + 1;
  }
}

Extents chunk_for_empty_array(const Extents& shape) {
  std::int64_t capacity = 1024;  // elements
  Extents chunk(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 0; capacity /= chunk[d])
    chunk[d] = std::clamp<std::int64_t>(shape[d], 1, capacity);
  return chunk;
}

ObjectWriter::ObjectWriter(const Library& hdf5, hid_t file, std::string path, bool is_netcdf)
    : hdf5_(hdf5),
      file_(file),
      path_(std::move(path)),
      is_netcdf_(is_netcdf),
      link_creation_(make_list(hdf5, hdf5->H5P_CLS_LINK_CREATE_ID_g)),
      group_creation_(make_list(hdf5, hdf5->H5P_CLS_GROUP_CREATE_ID_g)) {
  bool is_set = hdf5->H5Pset_char_encoding(link_creation_.id(), H5T_CSET_UTF8) >= 0;
  // netCDF's library changes only files that track the order of creation.
  if (is_netcdf) is_set = is_set && hdf5->H5Pset_link_creation_order(group_creation_.id(), kTracksOrder) >= 0;
  if (!is_set) base::throw_system_error(EIO, path_, " cannot be made by ", hdf5_.describe(), hdf5_.last_error());
}

std::string ObjectWriter::display_name(const std::string& name) const { return text(path_, "::", name); }

void ObjectWriter::fail(const std::string& name) const {
  base::throw_system_error(EIO, display_name(name), " cannot be made by ", hdf5_.describe(), hdf5_.last_error());
}

Handle ObjectWriter::open(const std::string& name) const {
  Handle object(hdf5_->H5Oopen(file_, name.empty() ? "/" : name.c_str(), 0), hdf5_->H5Oclose);
  if (!object) fail(name);
  return object;
}

haddr_t ObjectWriter::address(hid_t object, const std::string& name) const {
  const auto found = hdf5_.address(object);
  if (!found) fail(name);
  return *found;
}

void ObjectWriter::make_group(const std::string& name) const {
  const Handle group(hdf5_->H5Gcreate2(file_, name.c_str(), link_creation_.id(), group_creation_.id(), 0),
                     hdf5_->H5Gclose);
  if (!group) fail(name);
}

Handle ObjectWriter::make_type(const Member& member, NetcdfTypes& types) const {
  const std::string& dtype = member.type.dtype;
  const bool is_record = npy::is_record(dtype);
  // Return the identifier of the named type itself, which `types` closes: a copy of it would have no name.
  Handle type = is_netcdf_ && is_record ? Handle(types.find_or_add(file_, dtype), [](hid_t) -> herr_t { return 0; })
                                        : make_hdf5_type(hdf5_, dtype);
  if (!type && is_record) fail(member.name);
  if (!type)
    base::throw_argument_error(display_name(member.name), ": HDF5 has no elements of dtype ", dtype,
                               "; use numbers, booleans, or bytes of a fixed length");
  return type;
}

Handle ObjectWriter::make_creation_list(const Member& member, hid_t type, Allocation allocation) const {
  Handle creation = make_list(hdf5_, hdf5_->H5P_CLS_DATASET_CREATE_ID_g);
  bool is_set = hdf5_->H5Pset_obj_track_times(creation.id(), /*track_times=*/false) >= 0;
  if (!member.fill.empty() && member.type.has_texts()) {
    const std::string value = zarr::parse_text_fill(member.name, member.fill_value);
    const char* const begin = value.c_str();
    is_set = is_set && hdf5_->H5Pset_fill_value(creation.id(), type, &begin) >= 0;
  } else if (!member.fill.empty()) {
    is_set = is_set && hdf5_->H5Pset_fill_value(creation.id(), type, member.fill.data()) >= 0;
  }
  if (allocation == Allocation::kNow)
    is_set = is_set && hdf5_->H5Pset_alloc_time(creation.id(), H5D_ALLOC_TIME_EARLY) >= 0;
  // The library accepts H5D_FILL_TIME_NEVER for all types except texts of any length.
  if (allocation == Allocation::kNow && !member.type.has_texts())
    is_set = is_set && hdf5_->H5Pset_fill_time(creation.id(), H5D_FILL_TIME_NEVER) >= 0;
  if (!member.in_chunks() && member.unlimited.empty()) return is_set ? std::move(creation) : Handle();
  const Extents chunk = member.in_chunks() ? *member.chunk : chunk_for_empty_array(member.type.shape);
  const std::vector<hsize_t> extents(chunk.begin(), chunk.end());
  is_set = is_set && hdf5_->H5Pset_chunk(creation.id(), static_cast<int>(extents.size()), extents.data()) >= 0;
  // Mark the filters as optional: the library that writes this description may not have them.
  for (const Filter& filter : make_filters(member.codec, member.type.element_bytes))
    is_set = is_set && hdf5_->H5Pset_filter(creation.id(), static_cast<int>(filter.id), H5Z_FLAG_OPTIONAL,
                                            filter.values.size(), filter.values.data()) >= 0;
  return is_set ? std::move(creation) : Handle();
}

Handle ObjectWriter::make_dataset(const Member& member, const std::string& name, hid_t type,
                                  Allocation allocation) const {
  const Handle space = make_extendable_space(hdf5_, member.type.shape, member.unlimited);
  const Handle creation = make_creation_list(member, type, allocation);
  Handle dataset(hdf5_->H5Dcreate2(file_, name.c_str(), type, space.id(), link_creation_.id(), creation.id(), 0),
                 hdf5_->H5Dclose);
  if (!space || !creation || !dataset) fail(member.name);
  write_attributes(dataset.id(), member.attributes, member.name);
  return dataset;
}

Handle ObjectWriter::make_dimension(const Scale& scale) const {
  const Handle type = make_hdf5_type(hdf5_, ">f4");
  const std::vector<std::int64_t> unlimited(scale.unlimited ? 1 : 0, 0);
  const Handle space = make_extendable_space(hdf5_, {scale.length}, unlimited);
  const Handle creation = make_list(hdf5_, hdf5_->H5P_CLS_DATASET_CREATE_ID_g);
  constexpr hsize_t kChunkExtent = 1024;  // HDF5 requires chunks for an unlimited dimension; none is written
  bool is_set = hdf5_->H5Pset_obj_track_times(creation.id(), /*track_times=*/false) >= 0;
  if (scale.unlimited) is_set = is_set && hdf5_->H5Pset_chunk(creation.id(), 1, &kChunkExtent) >= 0;
  Handle dataset(is_set ? hdf5_->H5Dcreate2(file_, scale.name.c_str(), type.id(), space.id(), link_creation_.id(),
                                            creation.id(), 0)
                        : -1,
                 hdf5_->H5Dclose);
  if (!dataset) fail(scale.name);
  return dataset;
}

void ObjectWriter::write_attributes(hid_t object, const ArrayAttributes& attributes, const std::string& name) const {
  for (const ArrayAttribute& attribute : attributes)
    write_attribute(hdf5_, object, attribute, is_netcdf_, display_name(name));
}

void ObjectWriter::write_scale(hid_t dataset, const Scale& scale, std::int64_t number) const {
  const std::string where = display_name(scale.name);
  write_plain_text(hdf5_, dataset, "CLASS", "DIMENSION_SCALE", where);
  std::string name = scale.name.substr(scale.name.rfind('/') + 1);
  if (!scale.member) {
    // netCDF's library recognizes a dimension without a variable by this text, with the length in 10 columns.
    const std::string length = std::to_string(scale.length);
    name = "This is a netCDF dimension but not a netCDF variable." +
           std::string(length.size() < 10 ? 10 - length.size() : 0, ' ') + length;
  }
  write_plain_text(hdf5_, dataset, "NAME", name, where);
  if (!is_netcdf_ || number < 0) return;
  const auto value = static_cast<std::int32_t>(number);
  write_values(hdf5_, dataset, "_Netcdf4Dimid", {make_hdf5_type(hdf5_, "<i4"), make_space(hdf5_, {}), &value}, where);
}

Handle ObjectWriter::make_reference_type(const std::string& name) const {
  Handle type(hdf5_->H5Tcreate(H5T_COMPOUND, sizeof(ScaleUse)), hdf5_->H5Tclose);
  const Handle number = make_hdf5_type(hdf5_, "<i4");
  if (hdf5_->H5Tinsert(type.id(), "dataset", 0, hdf5_->H5T_STD_REF_OBJ_g) < 0 ||
      hdf5_->H5Tinsert(type.id(), "dimension", sizeof(haddr_t), number.id()) < 0)
    fail(name);
  return type;
}

void ObjectWriter::write_references(hid_t scale, const std::vector<ScaleUse>& uses, const std::string& name) const {
  if (uses.empty() || uses.size() > kMaxReferences) return;
  const Handle type = make_reference_type(name);
  write_values(hdf5_, scale, kReferenceList,
               {type, make_space(hdf5_, {static_cast<std::int64_t>(uses.size())}), uses.data()}, display_name(name));
}

void ObjectWriter::add_reference(hid_t scale, const ScaleUse& use, const std::string& name) const {
  std::vector<ScaleUse> uses;
  if (hdf5_->H5Aexists(scale, kReferenceList) > 0) {
    const Handle attribute(hdf5_->H5Aopen(scale, kReferenceList, 0), hdf5_->H5Aclose);
    const Handle space(hdf5_->H5Aget_space(attribute.id()), hdf5_->H5Sclose);
    const long long count = space ? hdf5_->H5Sget_simple_extent_npoints(space.id()) : -1;
    const Handle type = make_reference_type(name);
    uses.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
    // Leave the list alone if it cannot be read: some libraries write references of another kind.
    if (count <= 0 || hdf5_->H5Aread(attribute.id(), type.id(), uses.data()) < 0) return;
  }
  if (uses.size() >= kMaxReferences) return;
  if (!uses.empty() && hdf5_->H5Adelete(scale, kReferenceList) < 0) fail(name);
  uses.push_back(use);
  write_references(scale, uses, name);
}

void ObjectWriter::write_dimension_list(hid_t dataset, std::vector<haddr_t> scales, const std::string& name) const {
  std::vector<hvl_t> sequences;
  for (haddr_t& scale : scales) sequences.push_back(scale == 0 ? hvl_t{} : hvl_t{1, &scale});
  const Handle type(hdf5_->H5Tvlen_create(hdf5_->H5T_STD_REF_OBJ_g), hdf5_->H5Tclose);
  write_values(hdf5_, dataset, "DIMENSION_LIST",
               {type, make_space(hdf5_, {static_cast<std::int64_t>(scales.size())}), sequences.data()},
               display_name(name));
}

void ObjectWriter::write_labels(hid_t dataset, const std::vector<std::string>& labels, const std::string& name) const {
  if (std::ranges::all_of(labels, &std::string::empty)) return;
  std::vector<const char*> texts;
  for (const std::string& label : labels) texts.push_back(label.c_str());
  write_values(hdf5_, dataset, "DIMENSION_LABELS",
               {make_text_type(hdf5_), make_space(hdf5_, {static_cast<std::int64_t>(texts.size())}), texts.data()},
               display_name(name));
}

}  // namespace plait::container::hdf5
