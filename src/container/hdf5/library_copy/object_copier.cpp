// Copying datasets by the HDF5 library.
//
// Problem: Plait neither reads nor writes sequences of any length, references, and records that contain them. Their
// elements refer to the heap of the file, or to objects in it.
//
// Idea: rank 0 describes a new file by the library before any rank writes elements (MetadataWriter). At that moment the
// library copies such datasets from the source into the description. H5Ocopy copies datasets without references,
// including their chunks as they are. Datasets with references are read, translated (ReferenceTranslator) and written.
// All datasets are made before the first reference is translated, because references may lead to any of them.
// Attributes are copied one by one, because their references need the same translation.
//
// Example: a.h5 has x, seq (sequences) and refs (references to x and to seq). Plait copies x, and the library the rest.
//    1  x is described, without elements
//    2  H5Ocopy copies seq without attributes; refs is created with the type, shape and properties of the source
//    3  the elements of refs are read and translated to the addresses of x and seq, and written
//    4  the attributes of seq and refs follow
// The description is then written as the head of b.h5, and all ranks write the elements of x after it.

#include "container/hdf5/library_copy/object_copier.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/format_registry.hpp"
#include "container/hdf5/changing/journal.hpp"
#include "container/hdf5/hdf5_attributes.hpp"
#include "container/hdf5/netcdf4/dimensions.hpp"
#include "container/hdf5/netcdf4/links.hpp"
#include "container/hdf5/ranges/range_file.hpp"
#include "store/objects/object_ranges.hpp"
#include "store/objects/object_url.hpp"
#include "store/objects/open_objects.hpp"

namespace plait::container::hdf5 {

namespace {

using base::text;

herr_t append_name(hid_t /*object*/, const char* name, const H5A_info_t* /*info*/, void* out) {
  static_cast<std::vector<std::string>*>(out)->emplace_back(name);
  return 0;
}

/// Elements of a dataset or an attribute in memory. The library allocates their sequences and texts, and the destructor
/// frees them.
class ElementBuffer {
 public:
  ElementBuffer(const Library& hdf5, hid_t type, hid_t space)
      : hdf5_(hdf5), type_(type), space_(space), stride_(hdf5->H5Tget_size(type)) {
    const hssize_t count = hdf5->H5Sget_simple_extent_npoints(space);
    count_ = hdf5->H5Sget_simple_extent_type(space) == H5S_NULL || count < 0 ? 0 : static_cast<std::size_t>(count);
    const std::int64_t bytes = base::checked_multiply(static_cast<std::int64_t>(count_),
                                                      static_cast<std::int64_t>(stride_), "bytes of elements");
    bytes_.resize(static_cast<std::size_t>(bytes));
  }
  ~ElementBuffer() {
    if (count_ > 0) hdf5_->H5Dvlen_reclaim(type_, space_, 0, bytes_.data());
  }
  ElementBuffer(const ElementBuffer&) = delete;
  ElementBuffer& operator=(const ElementBuffer&) = delete;

  bool empty() const { return count_ == 0; }
  std::size_t count() const { return count_; }
  std::byte* data() { return bytes_.data(); }
  std::byte* element(std::size_t i) { return bytes_.data() + i * stride_; }

 private:
  const Library& hdf5_;
  hid_t type_;
  hid_t space_;
  std::size_t stride_;
  std::size_t count_ = 0;
  std::vector<std::byte> bytes_;
};

/// Copies datasets of one file into a new file. add() is called for each dataset, then finish().
class DatasetCopier {
 public:
  DatasetCopier(const Library& hdf5, const LibraryCopies& copies, hid_t target, const std::string& target_name)
      : hdf5_(hdf5),
        source_name_(copies.source),
        target_name_(target_name),
        object_(open_object(copies.source)),
        ranges_(object_ ? std::make_unique<RangeFile>(*object_) : nullptr),
        source_(ranges_ ? ranges_->open(hdf5, copies.source) : open_source(hdf5, copies.source)),
        target_(target),
        link_creation_(hdf5->H5Pcreate(hdf5->H5P_CLS_LINK_CREATE_ID_g), hdf5->H5Pclose),
        object_copy_(hdf5->H5Pcreate(hdf5->H5P_CLS_OBJECT_COPY_ID_g), hdf5->H5Pclose),
        translator_(hdf5, {source_.id(), target, source_name_, target_name_}, renamed_arrays(copies)) {
    const bool is_set = hdf5->H5Pset_char_encoding(link_creation_.id(), H5T_CSET_UTF8) >= 0 &&
                        hdf5->H5Pset_create_intermediate_group(link_creation_.id(), 1) >= 0 &&
                        hdf5->H5Pset_copy_object(object_copy_.id(), H5O_COPY_WITHOUT_ATTR_FLAG) >= 0;
    if (!is_set) fail(target_name);
  }

  /// Opens a dataset of the source.
  void add(const std::string& name, const std::string& new_name) {
    Copy& copy = copies_.emplace_back();
    copy.name = name;
    copy.new_name = new_name;
    copy.display_name = text(source_name_, "::", name);
    copy.from = open_dataset(name);
    if (!copy.from) fail(copy.display_name);
    copy.type = Handle(hdf5_->H5Dget_type(copy.from.id()), hdf5_->H5Tclose);
    copy.references = find_references(hdf5_, copy.type.id());
  }

  /// Removes the datasets that refer to objects that the new file does not get, and then the datasets that refer to
  /// removed ones, until none is left. If no dataset would remain in the new file, nothing is removed, and finish()
  /// fails.
  void remove_incomplete() {
    std::vector<const Copy*> complete;
    for (const Copy& copy : copies_) complete.push_back(&copy);
    for (std::size_t former_count = complete.size() + 1; former_count != complete.size();) {
      former_count = complete.size();
      std::set<std::string> paths;
      for (const Copy* copy : complete) paths.insert(copy->name);
      translator_.set_expected(std::move(paths));
      std::erase_if(complete, [&](const Copy* copy) { return !is_complete(*copy); });
    }
    translator_.set_expected({});
    const Handle root(hdf5_->H5Oopen(target_, "/", 0), hdf5_->H5Oclose);
    const bool has_others = !read_links(hdf5_, root.id()).value_or(std::vector<Link>()).empty();
    if (complete.empty() && !has_others) return;
    const std::set<const Copy*> selected(complete.begin(), complete.end());
    std::vector<Copy> remaining;
    for (Copy& copy : copies_)
      if (selected.contains(&copy)) remaining.push_back(std::move(copy));
    copies_ = std::move(remaining);
  }

  /// Copies the datasets.
  void finish() {
    for (Copy& copy : copies_) create(copy);
    for (const Copy& copy : copies_)
      if (copy.references) copy_elements(copy);
    for (const Copy& copy : copies_) copy_attributes(copy);
    check_requests(ranges_.get());
  }

 private:
  using Unlinked = ReferenceTranslator::Unlinked;
  struct Copy {
    std::string name;      // in the source
    std::string new_name;  // in the new file
    std::string display_name;
    Handle from, to;  // the datasets
    Handle type;      // of the elements in the source
    std::optional<ReferencePart> references;
  };

  /// Makes a dataset of the new file, with its elements unless these have references.
  void create(Copy& copy) {
    const std::string path = text("/", copy.new_name);
    if (!copy.references) {
      if (hdf5_->H5Ocopy(copy.from.id(), ".", target_, path.c_str(), object_copy_.id(), link_creation_.id()) < 0)
        fail(copy.display_name);
      copy.to = Handle(hdf5_->H5Oopen(target_, path.c_str(), 0), hdf5_->H5Oclose);
    } else {
      const Handle properties(hdf5_->H5Dget_create_plist(copy.from.id()), hdf5_->H5Pclose);
      const Handle space(hdf5_->H5Dget_space(copy.from.id()), hdf5_->H5Sclose);
      const Handle type(hdf5_->H5Tcopy(copy.type.id()), hdf5_->H5Tclose);  // a named type belongs to its file
      copy.to = Handle(
          hdf5_->H5Dcreate2(target_, path.c_str(), type.id(), space.id(), link_creation_.id(), properties.id(), 0),
          hdf5_->H5Dclose);
    }
    if (!copy.to) fail(copy.display_name);
  }

  /// Opens a source in an object store; returns nullptr for a path.
  static std::unique_ptr<store::ObjectRanges> open_object(const std::string& source) {
    const std::string name(array_name(store::canonical_name(source)).file);
    return store::is_url(name) ? std::make_unique<store::ObjectRanges>(name) : nullptr;
  }
  static Handle open_source(const Library& hdf5, const std::string& path) {
    recover_from_journal(path);
    Handle file(hdf5->H5Fopen(path.c_str(), kReadOnly, 0), hdf5->H5Fclose);
    if (!file)
      base::throw_system_error(EIO, path, " cannot be opened as an HDF5 file by ", hdf5.describe(), hdf5.last_error());
    return file;
  }
  /// Returns the new names of the arrays that get another name.
  static std::map<std::string, std::string> renamed_arrays(const LibraryCopies& copies) {
    std::map<std::string, std::string> names;
    for (const auto& [name, new_name] : copies.arrays)
      if (name != new_name) names[name] = new_name;
    return names;
  }
  /// Opens a dataset of the source, which netCDF's library may have stored under another name.
  Handle open_dataset(const std::string& name) const {
    Handle found(hdf5_->H5Dopen2(source_.id(), text("/", name).c_str(), 0), hdf5_->H5Dclose);
    if (found) return found;
    return {hdf5_->H5Dopen2(source_.id(), text("/", non_coordinate_path(name)).c_str(), 0), hdf5_->H5Dclose};
  }

  void read_elements(const Copy& copy, ElementBuffer& elements) const {
    if (!elements.empty() && hdf5_->H5Dread(copy.from.id(), copy.type.id(), 0, 0, 0, elements.data()) < 0)
      fail(copy.display_name);
  }

  /// Returns true if the new file has, or will get, all objects to which elements refer.
  bool has_all_targets(const ReferencePart& references, ElementBuffer& elements, Unlinked unlinked) {
    for (std::size_t i = 0; i < elements.count(); ++i)
      if (!translator_.has_all_targets(references, elements.element(i), unlinked)) return false;
    return true;
  }

  /// Returns true if the new file gets all objects to which a dataset refers.
  bool is_complete(const Copy& copy) {
    if (!copy.references) return true;
    const Handle space(hdf5_->H5Dget_space(copy.from.id()), hdf5_->H5Sclose);
    ElementBuffer elements(hdf5_, copy.type.id(), space.id());
    read_elements(copy, elements);
    return has_all_targets(*copy.references, elements, Unlinked::kAccepted);
  }

  /// Copies the elements of a dataset that has references.
  void copy_elements(const Copy& copy) {
    const Handle space(hdf5_->H5Dget_space(copy.from.id()), hdf5_->H5Sclose);
    ElementBuffer elements(hdf5_, copy.type.id(), space.id());
    if (elements.empty()) return;
    read_elements(copy, elements);
    for (std::size_t i = 0; i < elements.count(); ++i)
      translator_.translate(*copy.references, elements.element(i), copy.display_name);
    if (hdf5_->H5Dwrite(copy.to.id(), copy.type.id(), 0, 0, 0, elements.data()) < 0) fail(copy.display_name);
  }

  void copy_attributes(const Copy& copy) {
    std::vector<std::string> names;
    hsize_t position = 0;
    if (hdf5_->H5Aiterate2(copy.from.id(), H5_INDEX_NAME, H5_ITER_INC, &position, append_name, &names) < 0)
      fail(copy.display_name);
    const bool is_scale = hdf5_->H5Aexists(copy.from.id(), "REFERENCE_LIST") > 0;
    for (const std::string& name : names) {
      const bool is_dimension_list = name == "DIMENSION_LIST" || name == "DIMENSION_LABELS";
      if (is_dimension_list || !is_internal(name, is_scale)) copy_attribute(copy, name);
    }
  }

  void copy_attribute(const Copy& copy, const std::string& name) {
    const std::string display_name = text("the attribute \"", name, "\" of ", copy.display_name);
    const Handle from(hdf5_->H5Aopen(copy.from.id(), name.c_str(), 0), hdf5_->H5Aclose);
    const Handle stored(hdf5_->H5Aget_type(from.id()), hdf5_->H5Tclose);
    const Handle type(hdf5_->H5Tcopy(stored.id()), hdf5_->H5Tclose);
    const Handle space(hdf5_->H5Aget_space(from.id()), hdf5_->H5Sclose);
    if (!from || !type || !space) fail(display_name);
    ElementBuffer values(hdf5_, type.id(), space.id());
    if (!values.empty() && hdf5_->H5Aread(from.id(), type.id(), values.data()) < 0) fail(display_name);
    if (const std::optional<ReferencePart> references = find_references(hdf5_, type.id())) {
      // A dimension that only this dataset has is no object of the new file. The library cannot read a DIMENSION_LIST
      // with null references, so leave the attribute out.
      const auto unlinked = name == "DIMENSION_LIST" ? Unlinked::kMissing : Unlinked::kAccepted;
      // plait.copy compares the attributes of both files, and warns about those that are left out.
      if (!are_translatable(hdf5_, type.id()) || !has_all_targets(*references, values, unlinked)) return;
      for (std::size_t i = 0; i < values.count(); ++i)
        translator_.translate(*references, values.element(i), display_name);
    }
    const Handle to(hdf5_->H5Acreate2(copy.to.id(), name.c_str(), type.id(), space.id(), 0, 0), hdf5_->H5Aclose);
    if (!to || (!values.empty() && hdf5_->H5Awrite(to.id(), type.id(), values.data()) < 0)) fail(display_name);
  }

  [[noreturn]] void fail(const std::string& what) const {
    check_requests(ranges_.get());
    base::throw_system_error(EIO, what, " cannot be copied to ", target_name_, " by ", hdf5_.describe(),
                             hdf5_.last_error(), "; leave it out, or copy the file by h5repack");
  }

  const Library& hdf5_;
  const std::string& source_name_;
  const std::string& target_name_;
  const std::unique_ptr<store::ObjectRanges> object_;  // the source, if it is in an object store
  const std::unique_ptr<RangeFile> ranges_;            // the library's access to object_
  const Handle source_;
  const hid_t target_;
  const Handle link_creation_;  // properties: create missing groups
  const Handle object_copy_;    // properties: copy without attributes
  ReferenceTranslator translator_;
  std::vector<Copy> copies_;
};

}  // namespace

bool is_copyable(const Library& hdf5, hid_t type, hid_t properties) {
  return hdf5->H5Pget_layout(properties) != H5D_VIRTUAL && hdf5->H5Pget_external_count(properties) == 0 &&
         are_translatable(hdf5, type);
}

void copy_datasets(const Library& hdf5, const LibraryCopies& copies, hid_t target, const std::string& target_name) {
  if (copies.arrays.empty()) return;
  DatasetCopier copier(hdf5, copies, target, target_name);
  for (const auto& [name, new_name] : copies.arrays) copier.add(name, new_name);
  if (copies.skips) copier.remove_incomplete();
  copier.finish();
}

}  // namespace plait::container::hdf5
