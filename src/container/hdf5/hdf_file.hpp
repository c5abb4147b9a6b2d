/// HDF5 files as their library shows them: which datasets there are, and where their bytes lie.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "container/hdf5/dataset.hpp"
#include "container/hdf5/library.hpp"
#include "container/hdf5/netcdf4/dimensions.hpp"
#include "store/store.hpp"

namespace plait::container::hdf5 {

class ChunkCoordinates;
class PrivateImage;

struct NamedDataset {
  std::string name;    ///< its path in the file, without the leading slash
  HdfDataset dataset;  ///< without chunks
  ArrayAttributes attributes;
};

/// An open file.  It is closed again soon: callers store plain values that were read from it.
class HdfFile {
 public:
  enum class For : std::uint8_t { kReading, kChanging };

  /// path: of the file of which `store` has the bytes.
  /// errors  kSystem: not an HDF5 file, damaged, open for writing in another program, or replaced since `store` was
  ///         opened.
  HdfFile(store::Store& store, const std::string& path, For what = For::kReading);
  /// An image of the file, to be changed.  errors  kSystem: the library fails.
  HdfFile(store::Store& store, const std::string& path, PrivateImage& image);

  /// All datasets of a group, or the one of that name, in the file's order; each once, whatever the number of its links.
  /// Links out of the file are not followed, and named types and what only stands for a dimension of netCDF are left
  /// out.
  /// errors  kArgument: nothing has that name; it leads out of the file.  kSystem: damaged; groups that are nested too
  ///         deeply.
  std::vector<NamedDataset> datasets(std::string_view group);
  /// Those that datasets() has gone through, in its order.
  const std::vector<GroupAttributes>& groups() const { return groups_; }
  /// Looks at one with all its chunks.
  /// errors  kArgument: there is none of that name; a link leads out of the file; a type, layout or filter that is not
  ///         supported.  kSystem: damaged, or chunks outside of the file.
  HdfDataset dataset(std::string_view name);
  /// Changes attributes of a dataset, and closes the file.  errors  kSystem: the library fails.
  void change_attributes(const std::string& name, const AttributeChanges& changes);

 private:
  /// Reads what all calls need of the file.  errors  kSystem: damaged.
  void finish_opening();
  Handle open_object(const std::string& name, const std::string& shown) const;
  std::uint64_t address_of(hid_t object) const;
  HdfDataset describe(hid_t dataset, const std::string& shown) const;
  /// Describes a dataset.  If it is damaged, states the reason in HdfDataset::rejection, so that listings can go on.
  HdfDataset describe_or_reject(hid_t dataset, const std::string& name) const;
  TextPadding padding_of(hid_t type) const;
  void describe_space(hid_t dataset, HdfDataset& found) const;
  void describe_chunks(hid_t properties, HdfDataset& found, const std::string& shown) const;
  /// What a change of its chunks has to know of the file.
  void describe_file(HdfDataset& found) const;
  void read_fill(hid_t dataset, hid_t properties, HdfDataset& found) const;
  void read_index(hid_t dataset, HdfDataset& found, const std::string& shown) const;
  /// Compares the data of a few chunks with the data that the library reads at their coordinates.
  /// errors  kSystem: they differ.
  void check_offsets(hid_t dataset, const HdfDataset& found, const ChunkCoordinates& coordinates,
                     const std::string& shown) const;
  using Visitor = std::function<void(const std::string& path, hid_t object, haddr_t address, int kind)>;
  /// Visits an object and, if it is a group, all objects that its hard links lead to, each once, in the order of
  /// links_of().
  /// kind  An ObjectKind; negative if the object cannot be opened.
  void visit(std::string_view top, const Visitor& visitor);
  /// Gives variables the names that netCDF's library shows, unless something else has them.
  void name_variables(std::vector<NamedDataset>& found) const;
  void add_all_scales(ScaleTable& scales);
  /// Opens the array of that name, and returns its path, which differs if netCDF's library stored it under another
  /// name.
  /// errors  kArgument: it is a dimension without a variable.
  std::pair<Handle, std::string> open_array(std::string_view name) const;
  [[noreturn]] void not_there(const std::string& shown, int kind);
  [[noreturn]] void damaged(const std::string& what) const;

  store::Store& store_;
  std::string path_;
  Library hdf5_;
  std::int64_t bytes_ = 0;  ///< of the file
  Handle file_;
  int descriptor_ = -1;  ///< of the file, which the library has
  bool of_netcdf_ = false;
  std::vector<GroupAttributes> groups_;
  Handle inside_;  ///< the property of accesses that links out of the file are not followed
};

}  // namespace plait::container::hdf5
