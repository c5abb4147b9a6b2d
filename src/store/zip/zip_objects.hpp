/// Objects in a zip file, which are read only.
///
/// The object `c/0/1` of `data.zarr.zip` is the entry `c/0/1` of the file. A location continues after the file as in a
/// folder, so that `data.zarr.zip/group` has the objects of the entries `group/...`. Stored entries are read by ranges;
/// deflated entries are decoded as a whole, because chunks are small.
/// Example: zarr-python's ZipStore writes `zarr.json` and `c/0/0` of an array, both stored. A read of 100 bytes at
/// offset 400 of `c/0/0` reads its local header, of 30 bytes, and then those 100 bytes. Further reads of the entry do
/// not read the header again.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "store/objects/object_store.hpp"
#include "store/posix/posix_store.hpp"
#include "store/zip/directory.hpp"

namespace plait::store::zip {

/// An open zip file and its entries.
class Archive {
 public:
  /// errors  kSystem: the file cannot be read, or is damaged.
  /// cost  Reads the directory, unless the process has read it for the last archive and the file has not changed.
  explicit Archive(const std::string& path);

  const std::string& name() const { return file_.name(); }
  /// Returns the entries in the order of their names. Of several entries of one name it has the last one.
  const std::vector<Entry>& entries() const { return *entries_; }
  /// Returns nullptr if there is no entry of this name.
  const Entry* find(std::string_view name) const;
  ObjectIdentity identity(const Entry& entry) const;
  /// Checks that an entry can be read, before memory is allocated for it.
  /// errors  kSystem: its sizes are impossible.  kArgument: the entry is encrypted or compressed otherwise.
  void check(const Entry& entry) const;
  /// Reads ranges of the content of an entry.
  /// errors  kSystem: damaged.  kArgument: the entry is encrypted or compressed otherwise.
  void read(const Entry& entry, std::vector<ReadSegment> ranges);

 private:
  /// Returns the offset of the bytes of an entry.  cost  The first call for an entry reads its local header.
  std::int64_t find_begin(const Entry& entry);
  void inflate(const Entry& entry, std::int64_t begin, std::span<std::byte> content);

  posix::PosixStore file_;
  Identity identity_;
  std::shared_ptr<const std::vector<Entry>> entries_;
  std::vector<std::atomic<std::int64_t>> begins_;  // offset of the bytes of each entry that was read; 0 before that
};

/// Returns true if a regular file begins like a zip file; false if it cannot be read.
bool is_archive(const std::string& path);
/// Returns the zip file of a location, which is the file itself, or continues after it; empty if there is none.
/// cost  One or more calls of stat(); opens the file if the location is one.
std::string archive_path(const std::string& location);

/// Opens the objects of a location in the zip file `archive`.  errors  Those of Archive.
std::shared_ptr<ObjectStore> open_objects(const std::string& location, const std::string& archive);

}  // namespace plait::store::zip
