/// HDF5 files as the HDF5 library describes them: their datasets, and the offsets of their bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "container/hdf5/dataset.hpp"
#include "container/hdf5/library.hpp"
#include "container/hdf5/library_read/external_links.hpp"
#include "container/hdf5/netcdf4/dimensions.hpp"
#include "container/hdf5/ranges/range_file.hpp"
#include "store/store.hpp"

namespace plait::container::hdf5 {

class ChunkCoordinates;
class PrivateImage;

/// A dataset in a listing of a group.
struct NamedDataset {
  std::string name;    ///< the path in the file, without the leading slash
  HdfDataset dataset;  ///< the description without its chunks
  ArrayAttributes attributes;
};

/// An HDF5 file that is open in the HDF5 library. It is open for a short time only, because it locks the library:
/// callers read descriptions from it and close it.
class HdfFile {
 public:
  enum class Access : std::uint8_t { kReading, kChanging };

  /// Opens the file.
  /// path: the path of the file. store: its bytes; may be an object in an object store, which is read by ranges.
  /// errors  kSystem: the file is not an HDF5 file, is damaged, is open for writing in another program, or has been
  ///         replaced since `store` was opened.
  HdfFile(store::Store& store, const std::string& path, Access access = Access::kReading);
  /// Opens a private image of the file for changes.  errors  kSystem: the library fails.
  HdfFile(store::Store& store, const std::string& path, PrivateImage& image);

  /// Describes all datasets of a group, or the one dataset of that name, in the order of the file. A dataset with
  /// several links appears once. Links to other files are followed as follow_rule() permits. Named types are left out,
  /// and so are datasets that only represent a dimension of netCDF.
  /// errors  kArgument: no object has that name, or the name leads to another file. kSystem: the file is damaged, or
  ///         its groups are nested too deeply.
  std::vector<NamedDataset> list_datasets(std::string_view group);
  /// Returns true for a netCDF file: its name has a suffix of netCDF, or its root group the attribute _NCProperties.
  bool is_netcdf() const { return is_netcdf_; }
  /// Returns true if the file has no object of this name.
  bool lacks(std::string_view name) const;
  /// Returns the groups that the last call of list_datasets() visited, in its order.
  const std::vector<GroupAttributes>& groups() const { return groups_; }
  /// Describes a dataset with all its chunks.
  /// errors  kArgument: no dataset has that name; a link leads to another file; the type, layout or filter is not
  ///         supported. kSystem: the file is damaged, or chunks are outside the file.
  HdfDataset describe_dataset(std::string_view name);
  /// Changes attributes of a dataset, and closes the file.  errors  kSystem: the library fails.
  void change_attributes(const std::string& name, const AttributeChanges& changes);

 private:
  // list_datasets() and describe_dataset() without the check for failed requests to an object store.
  std::vector<NamedDataset> list_datasets_unchecked(std::string_view group);
  HdfDataset describe_dataset_unchecked(std::string_view name);
  /// Returns the cached lengths of the unlimited dimensions of this file.
  RecordCounts record_counts() const;
  /// Reads the properties that all calls need.  errors  kSystem: the file is damaged.
  void finish_opening(FollowRule rule);
  /// Opens an object.  errors  kArgument: its name leads to another file that is missing or must not be read.
  Handle open_object(const std::string& name, const std::string& display_name) const;
  /// Selects the HDF5 library as the reader if Plait cannot find the elements or cannot decode them.
  void choose_reader(hid_t dataset, hid_t properties, bool is_outside, HdfDataset& description) const;
  /// Determines whether the HDF5 library can copy a dataset that Plait does not read.
  /// reason: the reason why Plait does not read elements of its type.
  void choose_copier(hid_t dataset, const std::string& reason, bool is_outside, HdfDataset& description) const;
  /// Describes a dataset. is_outside: true if it is in another file, reached through an external link.
  HdfDataset describe(hid_t dataset, bool is_outside, const std::string& display_name) const;
  /// Describes a dataset like describe(). If it is damaged, HdfDataset::rejection states the reason, so that listings
  /// can go on.
  HdfDataset describe_or_reject(hid_t dataset, bool is_outside, const std::string& name) const;
  /// Returns the number of bytes that a dataset occupies in the file. For a dataset with chunks the library reads the
  /// whole chunk index, which takes many requests to an object store. There, listings get -1 for such datasets, and
  /// other calls read the index in advance by a few requests.
  std::int64_t stored_bytes(hid_t dataset, hid_t properties, std::size_t dimensions) const;
  /// Reads the chunk shape and the filters.
  void describe_chunks(hid_t properties, HdfDataset& description, const std::string& display_name) const;
  /// Reads the properties of the file that a change of chunks depends on.
  void describe_file(HdfDataset& description) const;
  /// Reads the fill value of elements that are not texts of any length.
  void read_fill(hid_t type, hid_t properties, HdfDataset& description) const;
  /// Reads the fill value of texts, and the properties of the file that the addresses of texts depend on.
  void describe_texts(hid_t type, hid_t properties, HdfDataset& description) const;
  /// Lists all chunks, and checks them.
  void read_index(hid_t dataset, HdfDataset& description, const std::string& display_name) const;
  /// Compares the bytes of a few chunks with the bytes that the library reads at their coordinates.
  /// errors  kSystem: they differ.
  void check_offsets(hid_t dataset, const HdfDataset& description, const ChunkCoordinates& coordinates,
                     const std::string& display_name) const;
  using Visitor = std::function<void(const std::string& path, hid_t object, haddr_t address, int kind)>;
  /// Calls `visitor` for an object and, if it is a group, for all objects to which its hard links lead, and its
  /// external links if they are followed. Each object is visited once, in the order of read_links(). The address is
  /// HADDR_UNDEF for objects of other files.
  /// kind  The type of the object in the library, such as H5I_DATASET; negative if the object cannot be opened.
  void visit_objects(std::string_view top, const Visitor& visitor);
  /// Renames variables to the names that netCDF's library shows, unless another object already has that name.
  void name_variables(std::vector<NamedDataset>& datasets) const;
  /// Records all datasets of the file in a table, so that it knows all scales.
  void add_all_scales(ScaleTable& scales);
  /// Opens the array of that name. Returns it with its path, which differs from the name if netCDF's library has stored
  /// it under another name.
  /// errors  kArgument: the name is that of a netCDF dimension without a variable.
  std::pair<Handle, std::string> open_array(std::string_view name) const;
  /// Throws an error that lists the datasets of the file. kind: the kind of the object that has the name; negative for
  /// none.
  [[noreturn]] void throw_missing(const std::string& display_name, int kind);
  /// Throws an error with the message of the library. what: the part of the file that cannot be read.
  [[noreturn]] void throw_damaged(const std::string& what) const;

  store::Store& store_;
  std::string path_;
  Library hdf5_;
  std::int64_t file_bytes_ = 0;        ///< size of the file
  std::unique_ptr<RangeFile> ranges_;  ///< for a file in an object store
  Handle file_;
  int descriptor_ = -1;  ///< descriptor of an ordinary file, owned by the library
  bool is_netcdf_ = false;
  bool is_listing_ = false;               ///< true while several datasets are described; see stored_bytes()
  std::vector<GroupAttributes> groups_;   ///< see groups()
  std::unique_ptr<ExternalLinks> links_;  ///< how links to other files are followed
  unsigned long file_number_ = 0;         ///< the library's number of the file
};

}  // namespace plait::container::hdf5
