// Writing the metadata of a new HDF5 file by the library.
//
// Problem: the library would write the elements itself, from one process. Plait's ranks write them at offsets of their
// own.
//
// Idea: the library describes all datasets in a file in memory without allocating their elements: contiguous ones are
// allocated late, and chunked ones have no chunks. Closing the file completes the metadata, which becomes the head of
// the new file. The address of each dataset is then undefined (all bits set), and find_address_field() returns where it
// is. Plait sets it as soon as the offset of the elements, or of the chunk index, is known.

#include "container/hdf5/writing/new_hdf5_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <string_view>

#include "base/descriptor.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/fill_value.hpp"
#include "container/hdf5/filters.hpp"
#include "container/hdf5/library.hpp"
#include "container/hdf5/library_copy/object_copier.hpp"
#include "container/hdf5/netcdf4/dimensions.hpp"
#include "container/hdf5/writing/netcdf_types.hpp"
#include "container/hdf5/writing/new_attributes.hpp"
#include "container/hdf5/writing/new_type.hpp"
#include "container/hdf5/writing/object_header.hpp"
#include "container/hdf5/writing/scales.hpp"
#include "container/npy/record_type.hpp"
#include "store/posix/temporary.hpp"

namespace plait::container::hdf5 {

namespace {

using base::text;

constexpr unsigned kKeepsOrder = H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED;

/// A file in memory, or in the folder of temporary files, in which only written bytes take space. Its name is removed
/// as soon as the library has opened the file; the library cannot open files without a name.
class MemoryFile {
 public:
  MemoryFile() {
    for (const std::string& folder : {std::string("/dev/shm"), store::posix::temporary_folder()}) {
      path_ = text(folder, "/plait-hdf5-XXXXXX");
      file_ = base::Descriptor(::mkostemp(path_.data(), O_CLOEXEC));
      if (file_.number() >= 0) return;
    }
    failed("make");
  }
  ~MemoryFile() { unlink(); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  const std::string& path() const { return path_; }
  void unlink() noexcept {
    if (!path_.empty()) ::unlink(path_.c_str());
    path_.clear();
  }
  std::vector<std::byte> read() const {
    struct stat found{};
    if (::fstat(file_.number(), &found) != 0) failed("look at");
    std::vector<std::byte> bytes(static_cast<std::size_t>(found.st_size));
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t got = ::pread(file_.number(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
      if (got <= 0) failed("read");
      done += static_cast<std::size_t>(got);
    }
    return bytes;
  }

 private:
  [[noreturn]] static void failed(const char* what) {
    const int code = errno;
    base::throw_system_error(code, "cannot ", what, " a temporary file for the header of an HDF5 file");
  }
  std::string path_;
  base::Descriptor file_;
};

[[noreturn]] void failed(const Library& hdf5, const std::string& what) {
  base::throw_system_error(EIO, what, " cannot be made by ", hdf5.describe(), hdf5.why());
}

void check_name(const std::string& name, const std::string& shown) {
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view part = std::string_view(name).substr(begin, end - begin);
    if (part.empty() || part == "." || part == ".." || part.find('\0') != std::string_view::npos)
      base::throw_argument_error(shown, ": \"", part,
                                 "\" is no part of the name of a dataset; give a name such as /group/array");
    begin = end + 1;
  }
}

Handle make_list(const Library& hdf5, hid_t kind) { return {hdf5->H5Pcreate(kind), hdf5->H5Pclose}; }

/// Makes a dataspace of that shape, in which the `unlimited` dimensions may grow.
Handle growing_space(const Library& hdf5, const Extents& shape, const std::vector<std::int64_t>& unlimited) {
  if (unlimited.empty()) return make_space(hdf5, shape);
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  std::vector<hsize_t> most = extents;
  for (const std::int64_t d : unlimited) most[static_cast<std::size_t>(d)] = H5S_UNLIMITED;
  return {hdf5->H5Screate_simple(static_cast<int>(extents.size()), extents.data(), most.data()), hdf5->H5Sclose};
}

/// Returns a chunk shape for an array without elements, to which other programs will add some.
Extents empty_chunk(const Extents& shape) {
  std::int64_t capacity = 1024;
  Extents chunk(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 0; capacity /= chunk[d])
    chunk[d] = std::clamp<std::int64_t>(shape[d], 1, capacity);
  return chunk;
}

/// Makes the creation properties of a dataset. type: the type of its elements.
Handle make_creation_list(const Library& hdf5, const Member& member, hid_t type) {
  Handle creation = make_list(hdf5, hdf5->H5P_CLS_DATASET_CREATE_ID_g);
  bool said = hdf5->H5Pset_obj_track_times(creation.id(), false) >= 0;
  if (!member.fill.empty() && member.type.has_texts()) {
    const std::string value = zarr::text_fill(member.name, member.fill_value);
    const char* const begin = value.c_str();
    said = said && hdf5->H5Pset_fill_value(creation.id(), type, &begin) >= 0;
  } else if (!member.fill.empty()) {
    said = said && hdf5->H5Pset_fill_value(creation.id(), type, member.fill.data()) >= 0;
  }
  if (!member.in_chunks() && member.unlimited.empty()) return said ? std::move(creation) : Handle();
  const Extents chunk = member.in_chunks() ? *member.chunk : empty_chunk(member.type.shape);
  const std::vector<hsize_t> extents(chunk.begin(), chunk.end());
  said = said && hdf5->H5Pset_chunk(creation.id(), static_cast<int>(extents.size()), extents.data()) >= 0;
  // The filters are optional, because the library that writes the description may not have them.
  for (const Filter& filter : make_filters(member.codec, member.type.element_bytes))
    said = said && hdf5->H5Pset_filter(creation.id(), static_cast<int>(filter.id), H5Z_FLAG_OPTIONAL,
                                       filter.values.size(), filter.values.data()) >= 0;
  return said ? std::move(creation) : Handle();
}

/// Returns all groups, with those above them.
std::set<std::string> groups_in(const NewFileSpec& wanted) {
  std::set<std::string> groups;
  const auto add = [&](std::string group) {
    for (; !group.empty(); group = parent_group(group)) groups.insert(group);
  };
  for (const Member& one : wanted.members) add(parent_group(one.name));
  for (const GroupAttributes& one : wanted.groups) add(one.group);
  return groups;
}

/// Returns the names in the root group.
std::set<std::string> names_in(const NewFileSpec& wanted) {
  std::set<std::string> names;
  const auto add = [&](const std::string& path) { names.insert(path.substr(0, path.find('/'))); };
  for (const Member& one : wanted.members) {
    add(one.name);
    names.insert(one.dimension_names.begin(), one.dimension_names.end());
  }
  for (const GroupAttributes& one : wanted.groups) {
    add(one.group);
    for (const GroupDimension& dimension : one.dimensions) names.insert(dimension.name);
  }
  return names;
}

/// Describes a new file to the library, which writes it.
class FileDescriber {
 public:
  FileDescriber(const Library& hdf5, const NewFileSpec& wanted, const std::string& file)
      : hdf5_(hdf5),
        wanted_(wanted),
        types_(hdf5, names_in(wanted)),
        scales_(plan_scales(wanted.members, wanted.groups, wanted.of_netcdf)) {
    const Handle access = make_list(hdf5, hdf5->H5P_CLS_FILE_ACCESS_ID_g);
    const Handle creation = make_list(hdf5, hdf5->H5P_CLS_FILE_CREATE_ID_g);
    linked_ = make_list(hdf5, hdf5->H5P_CLS_LINK_CREATE_ID_g);
    grouped_ = make_list(hdf5, hdf5->H5P_CLS_GROUP_CREATE_ID_g);
    bool said = hdf5->H5Pset_libver_bounds(access.id(), H5F_LIBVER_EARLIEST, H5F_LIBVER_V110) >= 0 &&
                hdf5->H5Pset_char_encoding(linked_.id(), H5T_CSET_UTF8) >= 0;
    // netCDF's library changes only files that track the order of creation.
    if (wanted.of_netcdf)
      said = said && hdf5->H5Pset_link_creation_order(creation.id(), kKeepsOrder) >= 0 &&
             hdf5->H5Pset_link_creation_order(grouped_.id(), kKeepsOrder) >= 0;
    file_ = Handle(said ? hdf5->H5Fcreate(file.c_str(), kTruncate, creation.id(), access.id()) : -1, hdf5->H5Fclose);
    if (!file_) failed(hdf5, wanted.path);
  }

  /// Writes all metadata. Returns the offset of the object header of each array.
  std::vector<std::int64_t> describe() {
    describe_groups();
    for (const Scale& scale : scales_.scales)
      if (!scale.member) describe_dimension(scale);
    for (std::size_t i = 0; i < wanted_.members.size(); ++i) describe_array(wanted_.members[i], stored_name(i));
    if (!scales_.scales.empty()) describe_scales();
    describe_dimension_lists();
    copy_datasets(hdf5_, wanted_.copies, file_.id(), wanted_.path);
    std::vector<std::int64_t> headers;
    for (const haddr_t address : addresses_) headers.push_back(static_cast<std::int64_t>(address));
    // The library writes much of the metadata only when the file is closed, and closes it only after its types.
    types_.close();
    if (file_.close_now() < 0) failed(hdf5_, wanted_.path);
    return headers;
  }

 private:
  Handle opened(const std::string& name) const {
    Handle object(hdf5_->H5Oopen(file_.id(), name.empty() ? "/" : name.c_str(), 0), hdf5_->H5Oclose);
    if (!object) failed(hdf5_, shown(name));
    return object;
  }
  std::string shown(const std::string& name) const { return text(wanted_.path, "::", name); }
  haddr_t object_address(hid_t object, const std::string& name) const {
    const auto address = hdf5_.address(object);
    if (!address) failed(hdf5_, shown(name));
    return *address;
  }

  void describe_groups() const {
    for (const std::string& name : groups_in(wanted_)) {
      const Handle group(hdf5_->H5Gcreate2(file_.id(), name.c_str(), linked_.id(), grouped_.id(), 0), hdf5_->H5Gclose);
      if (!group) failed(hdf5_, shown(name));
    }
    for (const GroupAttributes& one : wanted_.groups) {
      const Handle group = opened(one.group);
      for (const ArrayAttribute& its : one.attributes)
        write_attribute(hdf5_, group.id(), its, wanted_.of_netcdf, shown(one.group));
    }
  }
  /// Returns the path of the dataset that stores the elements of an array.
  std::string stored_name(std::size_t member) const {
    const std::string& name = wanted_.members[member].name;
    return scales_.non_coordinates.contains(member) ? non_coordinate_path(name) : name;
  }
  void describe_array(const Member& one, const std::string& name) {
    const ArrayType& array = one.type;
    const Handle type = make_type(array.dtype);
    if (!type && npy::is_record(array.dtype)) failed(hdf5_, shown(one.name));
    if (!type)
      base::throw_argument_error(shown(one.name), ": HDF5 has no elements of dtype ", array.dtype,
                                 "; use numbers, booleans, or bytes of a fixed length");
    const Handle space = growing_space(hdf5_, array.shape, one.unlimited);
    const Handle creation = make_creation_list(hdf5_, one, type.id());
    const Handle dataset(
        hdf5_->H5Dcreate2(file_.id(), name.c_str(), type.id(), space.id(), linked_.id(), creation.id(), 0),
        hdf5_->H5Dclose);
    if (!space || !creation || !dataset) failed(hdf5_, shown(one.name));
    addresses_.push_back(object_address(dataset.id(), one.name));
    for (const ArrayAttribute& its : one.attributes)
      write_attribute(hdf5_, dataset.id(), its, wanted_.of_netcdf, shown(one.name));
  }
  /// Makes the type of the elements of an array. netCDF's library shows records only if their type has a name.
  Handle make_type(const std::string& dtype) {
    if (!wanted_.of_netcdf || !npy::is_record(dtype)) return new_type(hdf5_, dtype);
    // A copy of a named type would have no name.
    const hid_t type = types_.find_or_add(file_.id(), dtype);
    return {type, [](hid_t) -> herr_t { return 0; }};
  }
  /// Makes a dataset without elements, which represents a dimension.
  void describe_dimension(const Scale& scale) const {
    const Handle type = new_type(hdf5_, ">f4");
    const std::vector<std::int64_t> unlimited(scale.unlimited ? 1 : 0, 0);
    const Handle space = growing_space(hdf5_, {scale.length}, unlimited);
    const Handle creation = make_list(hdf5_, hdf5_->H5P_CLS_DATASET_CREATE_ID_g);
    constexpr hsize_t kChunk = 1024;
    bool said = hdf5_->H5Pset_obj_track_times(creation.id(), false) >= 0;
    if (scale.unlimited) said = said && hdf5_->H5Pset_chunk(creation.id(), 1, &kChunk) >= 0;
    const Handle dataset(
        said ? hdf5_->H5Dcreate2(file_.id(), scale.name.c_str(), type.id(), space.id(), linked_.id(), creation.id(), 0)
             : -1,
        hdf5_->H5Dclose);
    if (!dataset) failed(hdf5_, shown(scale.name));
  }
  void describe_scales() {
    for (std::size_t i = 0; i < scales_.scales.size(); ++i) {
      const Scale& scale = scales_.scales[i];
      const Handle dataset = opened(scale.name);
      scale_addresses_.push_back(object_address(dataset.id(), scale.name));
      const std::string where = shown(scale.name);
      write_plain_text(hdf5_, dataset.id(), "CLASS", "DIMENSION_SCALE", where);
      std::string name = scale.name.substr(scale.name.rfind('/') + 1);
      if (!scale.member) {
        const std::string length = std::to_string(scale.length);
        name = "This is a netCDF dimension but not a netCDF variable." +
               std::string(length.size() < 10 ? 10 - length.size() : 0, ' ') + length;
      }
      write_plain_text(hdf5_, dataset.id(), "NAME", name, where);
      if (wanted_.of_netcdf) {
        const auto number = static_cast<std::int32_t>(i);
        write_values(hdf5_, dataset.id(), "_Netcdf4Dimid", {new_type(hdf5_, "<i4"), make_space(hdf5_, {}), &number},
                     where);
      }
      write_references(dataset.id(), scale, where);
    }
  }
  /// Writes the list of the datasets that have the dimension.
  void write_references(hid_t dataset, const Scale& scale, const std::string& where) const {
    struct Reference {
      haddr_t dataset;
      std::uint32_t dimension;
      std::uint32_t unused;
    };
    // A reference has 16 bytes. A longer list is left out, because DIMENSION_LIST is enough.
    constexpr std::size_t kMaxReferences = 4000;
    if (scale.used.empty() || scale.used.size() > kMaxReferences) return;
    std::vector<Reference> references;
    for (const auto& [member, dimension] : scale.used)
      references.push_back({addresses_[member], static_cast<std::uint32_t>(dimension), 0});
    const Handle type(hdf5_->H5Tcreate(H5T_COMPOUND, sizeof(Reference)), hdf5_->H5Tclose);
    const Handle number = new_type(hdf5_, "<i4");
    const bool made = hdf5_->H5Tinsert(type.id(), "dataset", 0, hdf5_->H5T_STD_REF_OBJ_g) >= 0 &&
                      hdf5_->H5Tinsert(type.id(), "dimension", sizeof(haddr_t), number.id()) >= 0;
    if (!made) failed(hdf5_, where);
    write_values(hdf5_, dataset, "REFERENCE_LIST",
                 {type, make_space(hdf5_, {static_cast<std::int64_t>(references.size())}), references.data()}, where);
  }
  void describe_dimension_lists() const {
    std::set<std::size_t> are_scales;
    for (const Scale& scale : scales_.scales)
      if (scale.member) are_scales.insert(*scale.member);
    for (std::size_t i = 0; i < wanted_.members.size(); ++i) {
      const Member& one = wanted_.members[i];
      const std::vector<std::ptrdiff_t>& its = scales_.of_members[i];
      if (its.empty() || are_scales.contains(i)) continue;
      const Handle dataset = opened(stored_name(i));
      const bool all = std::ranges::none_of(its, [](std::ptrdiff_t scale) { return scale < 0; });
      if (std::ranges::any_of(its, [](std::ptrdiff_t scale) { return scale >= 0; })) write_list(dataset.id(), its, one);
      if (!wanted_.of_netcdf || !all) write_labels(dataset.id(), one);
    }
  }
  void write_list(hid_t dataset, const std::vector<std::ptrdiff_t>& its, const Member& one) const {
    std::vector<haddr_t> addresses = scale_addresses_;  // a copy, because an hvl_t has no pointers to const
    std::vector<hvl_t> sequences;
    for (const std::ptrdiff_t scale : its)
      sequences.push_back(scale < 0 ? hvl_t{} : hvl_t{1, &addresses[static_cast<std::size_t>(scale)]});
    const Handle type(hdf5_->H5Tvlen_create(hdf5_->H5T_STD_REF_OBJ_g), hdf5_->H5Tclose);
    write_values(hdf5_, dataset, "DIMENSION_LIST",
                 {type, make_space(hdf5_, {static_cast<std::int64_t>(its.size())}), sequences.data()}, shown(one.name));
  }
  void write_labels(hid_t dataset, const Member& one) const {
    const std::vector<std::string>& names = one.dimension_names;
    if (std::ranges::all_of(names, &std::string::empty)) return;
    std::vector<const char*> labels;
    for (const std::string& name : names) labels.push_back(name.c_str());
    write_values(hdf5_, dataset, "DIMENSION_LABELS",
                 {text_type(hdf5_), make_space(hdf5_, {static_cast<std::int64_t>(labels.size())}), labels.data()},
                 shown(one.name));
  }

  const Library& hdf5_;
  const NewFileSpec& wanted_;
  NetcdfTypes types_;
  const Scales scales_;
  Handle linked_;
  Handle grouped_;
  Handle file_;
  std::vector<haddr_t> addresses_;        // addresses of the arrays
  std::vector<haddr_t> scale_addresses_;  // addresses of the scales
};

}  // namespace

NewFile make_file(const NewFileSpec& wanted) {
  const std::set<std::string> groups = groups_in(wanted);
  for (const Member& one : wanted.members) check_name(one.name, text(wanted.path, "::", one.name));
  for (const std::string& group : groups) check_name(group, text(wanted.path, "::", group));
  for (const Member& one : wanted.members) {
    const std::string shown = text(wanted.path, "::", one.name);
    if (one.type.order != Order::kC)
      base::throw_argument_error(shown, ": HDF5 keeps arrays in order C, but order=F was given; leave it out");
    if (groups.contains(one.name))
      base::throw_argument_error(
          shown, " is to be a dataset, but another one is to lie in a group of that name; rename one of them");
  }
  const Library hdf5;
  MemoryFile memory;
  NewFile made;
  std::vector<std::int64_t> headers;
  {
    FileDescriber describing(hdf5, wanted, memory.path());
    memory.unlink();
    headers = describing.describe();
  }
  made.head = memory.read();
  for (std::size_t i = 0; i < headers.size(); ++i) {
    const Member& one = wanted.members[i];
    made.address_fields.push_back(find_address_field(made.head, headers[i], wanted.path));
    made.text_fills.push_back(one.type.has_texts() && !one.fill.empty() ? find_fill(made.head, headers[i], wanted.path)
                                                                        : std::vector<std::byte>());
  }
  return made;
}

}  // namespace plait::container::hdf5
