// Writing the metadata of a new HDF5 file by the library.
//
// Problem: the library would write the elements itself, from one process, at offsets that it chooses. Plait's ranks
// write them in parallel, at offsets that Plait chooses.
//
// Idea: the library writes only the metadata of all datasets, to a file in memory. It allocates no elements: the space
// of contiguous datasets is allocated late, and datasets in chunks have no chunks. Closing this file completes the
// metadata, which becomes the head of the new file. The address of each dataset is then undefined (all bits set).
// find_address_field() returns the offset of the address, and Plait sets the address as soon as the offset of the
// elements, or of the chunk index, is known.

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
#include "container/hdf5/library.hpp"
#include "container/hdf5/library_copy/object_copier.hpp"
#include "container/hdf5/netcdf4/dimensions.hpp"
#include "container/hdf5/netcdf4/netcdf_types.hpp"
#include "container/hdf5/writing/object_header.hpp"
#include "container/hdf5/writing/object_writer.hpp"
#include "container/hdf5/writing/scales.hpp"
#include "store/posix/temporary.hpp"

namespace plait::container::hdf5 {

namespace {

using base::text;

/// A file in memory or, if that fails, in the folder of temporary files. It is sparse, so that only written bytes need
/// space. The library can only open a file that has a name; the caller then removes the name by unlink().
class MemoryFile {
 public:
  MemoryFile() {
    for (const std::string& folder : {std::string("/dev/shm"), store::posix::temporary_folder()}) {
      path_ = text(folder, "/plait-hdf5-XXXXXX");
      file_ = base::Descriptor(::mkostemp(path_.data(), O_CLOEXEC));
      if (file_.number() >= 0) return;
    }
    throw_failed("make");
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
    struct stat info{};
    if (::fstat(file_.number(), &info) != 0) throw_failed("look at");
    std::vector<std::byte> bytes(static_cast<std::size_t>(info.st_size));
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t count = ::pread(file_.number(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
      if (count <= 0) throw_failed("read");
      done += static_cast<std::size_t>(count);
    }
    return bytes;
  }

 private:
  [[noreturn]] static void throw_failed(const char* what) {
    const int code = errno;
    base::throw_system_error(code, "cannot ", what, " a temporary file for the header of an HDF5 file");
  }
  std::string path_;
  base::Descriptor file_;
};

/// Returns the paths of all groups of a new file, including those above others.
std::set<std::string> list_groups(const NewFileSpec& spec) {
  std::set<std::string> groups;
  const auto add = [&](std::string group) {
    for (; !group.empty(); group = parent_group(group)) groups.insert(group);
  };
  for (const Member& item : spec.members) add(parent_group(item.name));
  for (const GroupAttributes& item : spec.groups) add(item.group);
  return groups;
}

/// Returns the names of the objects in the root group of a new file.
std::set<std::string> list_root_names(const NewFileSpec& spec) {
  std::set<std::string> names;
  const auto add = [&](const std::string& path) { names.insert(path.substr(0, path.find('/'))); };
  for (const Member& item : spec.members) {
    add(item.name);
    names.insert(item.dimension_names.begin(), item.dimension_names.end());
  }
  for (const GroupAttributes& item : spec.groups) {
    add(item.group);
    for (const GroupDimension& dimension : item.dimensions) names.insert(dimension.name);
  }
  return names;
}

/// Creates an empty file in the library. file: its path.
Handle create_empty(const Library& hdf5, const NewFileSpec& spec, const std::string& file) {
  const Handle access(hdf5->H5Pcreate(hdf5->H5P_CLS_FILE_ACCESS_ID_g), hdf5->H5Pclose);
  const Handle creation(hdf5->H5Pcreate(hdf5->H5P_CLS_FILE_CREATE_ID_g), hdf5->H5Pclose);
  bool is_set = hdf5->H5Pset_libver_bounds(access.id(), H5F_LIBVER_EARLIEST, H5F_LIBVER_V110) >= 0;
  if (spec.is_netcdf) is_set = is_set && hdf5->H5Pset_link_creation_order(creation.id(), kTracksOrder) >= 0;
  Handle created(is_set ? hdf5->H5Fcreate(file.c_str(), kTruncate, creation.id(), access.id()) : -1, hdf5->H5Fclose);
  if (!created) base::throw_system_error(EIO, spec.path, " cannot be made by ", hdf5.describe(), hdf5.last_error());
  return created;
}

/// Makes the objects of a new file by the library.
class MetadataWriter {
 public:
  MetadataWriter(const Library& hdf5, const NewFileSpec& spec, const std::string& file)
      : hdf5_(hdf5),
        spec_(spec),
        types_(hdf5, list_root_names(spec)),
        scales_(plan_scales(spec.members, spec.groups, spec.is_netcdf)),
        file_(create_empty(hdf5, spec, file)),
        writer_(hdf5, file_.id(), spec.path, spec.is_netcdf) {}

  /// Writes all metadata. Returns the offset of the object header of each array.
  std::vector<std::int64_t> write() {
    write_groups();
    for (const Scale& scale : scales_.scales)
      if (!scale.member) writer_.make_dimension(scale);
    for (std::size_t i = 0; i < spec_.members.size(); ++i) write_array(spec_.members[i], stored_path(i));
    write_scales();
    write_dimension_lists();
    copy_datasets(hdf5_, spec_.copies, file_.id(), spec_.path);
    std::vector<std::int64_t> headers;
    for (const haddr_t address : addresses_) headers.push_back(static_cast<std::int64_t>(address));
    // Close the types first: the library closes a file, and writes much of its metadata, only after its open objects.
    types_.close();
    if (file_.close_now() < 0)
      base::throw_system_error(EIO, spec_.path, " cannot be made by ", hdf5_.describe(), hdf5_.last_error());
    return headers;
  }

 private:
  void write_groups() const {
    for (const std::string& name : list_groups(spec_)) writer_.make_group(name);
    for (const GroupAttributes& group : spec_.groups)
      writer_.write_attributes(writer_.open(group.group).id(), group.attributes, group.group);
  }
  /// Returns the path of the dataset that stores the elements of an array.
  std::string stored_path(std::size_t member) const {
    const std::string& name = spec_.members[member].name;
    return scales_.non_coordinates.contains(member) ? non_coordinate_path(name) : name;
  }
  void write_array(const Member& member, const std::string& name) {
    const Handle type = writer_.make_type(member, types_);
    const Handle dataset = writer_.make_dataset(member, name, type.id(), Allocation::kLate);
    addresses_.push_back(writer_.address(dataset.id(), member.name));
  }
  /// Turns the datasets of dimensions into scales, which refer to the arrays that have the dimension.
  void write_scales() {
    for (std::size_t i = 0; i < scales_.scales.size(); ++i) {
      const Scale& scale = scales_.scales[i];
      const Handle dataset = writer_.open(scale.name);
      scale_addresses_.push_back(writer_.address(dataset.id(), scale.name));
      writer_.write_scale(dataset.id(), scale, static_cast<std::int64_t>(i));
      std::vector<ScaleUse> uses;
      for (const auto& [member, dimension] : scale.uses)
        uses.push_back({addresses_[member], static_cast<std::uint32_t>(dimension), 0});
      writer_.write_references(dataset.id(), uses, scale.name);
    }
  }
  /// Makes the arrays refer to the scales of their dimensions.
  void write_dimension_lists() const {
    std::set<std::size_t> scale_members;  // numbers of the arrays that are scales
    for (const Scale& scale : scales_.scales)
      if (scale.member) scale_members.insert(*scale.member);
    for (std::size_t i = 0; i < spec_.members.size(); ++i) {
      const Member& member = spec_.members[i];
      const std::vector<std::ptrdiff_t>& scales = scales_.scales_by_member[i];
      if (scales.empty() || scale_members.contains(i)) continue;
      const Handle dataset = writer_.open(stored_path(i));
      const bool has_all_scales = std::ranges::none_of(scales, [](std::ptrdiff_t scale) { return scale < 0; });
      std::vector<haddr_t> addresses;
      for (const std::ptrdiff_t scale : scales)
        addresses.push_back(scale < 0 ? 0 : scale_addresses_[static_cast<std::size_t>(scale)]);
      if (std::ranges::any_of(scales, [](std::ptrdiff_t scale) { return scale >= 0; }))
        writer_.write_dimension_list(dataset.id(), std::move(addresses), member.name);
      if (!spec_.is_netcdf || !has_all_scales) writer_.write_labels(dataset.id(), member.dimension_names, member.name);
    }
  }

  const Library& hdf5_;
  const NewFileSpec& spec_;
  NetcdfTypes types_;
  const Scales scales_;
  Handle file_;
  ObjectWriter writer_;
  std::vector<haddr_t> addresses_;        // addresses of the arrays: the offsets of their object headers
  std::vector<haddr_t> scale_addresses_;  // addresses of the scales
};

}  // namespace

NewFile make_file(const NewFileSpec& spec) {
  const std::set<std::string> groups = list_groups(spec);
  for (const Member& member : spec.members) check_object_name(member.name, text(spec.path, "::", member.name));
  for (const std::string& group : groups) check_object_name(group, text(spec.path, "::", group));
  for (const Member& member : spec.members) {
    const std::string display_name = text(spec.path, "::", member.name);
    if (member.type.order != Order::kC)
      base::throw_argument_error(display_name, ": HDF5 keeps arrays in order C, but order=F was given; leave it out");
    if (groups.contains(member.name))
      base::throw_argument_error(
          display_name, " would be a dataset, but another one would be in a group of that name; rename one of them");
  }
  const Library hdf5;
  MemoryFile memory;
  NewFile file;
  std::vector<std::int64_t> headers;
  {
    MetadataWriter writer(hdf5, spec, memory.path());
    memory.unlink();
    headers = writer.write();
  }
  file.head = memory.read();
  for (std::size_t i = 0; i < headers.size(); ++i) {
    const Member& member = spec.members[i];
    file.address_fields.push_back(find_address_field(file.head, headers[i], spec.path));
    file.text_fills.push_back(member.type.has_texts() && !member.fill.empty()
                                  ? find_fill(file.head, headers[i], spec.path)
                                  : std::vector<std::byte>());
  }
  return file;
}

}  // namespace plait::container::hdf5
