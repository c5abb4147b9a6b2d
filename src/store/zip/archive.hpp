/// Zip files that are open for reading: local files, and objects in object stores.
///
/// Example: zarr-python's ZipStore writes `zarr.json` and `c/0/0` of an array, both stored. A read of 100 bytes at
/// offset 400 of `c/0/0` reads its local header, of 30 bytes, together with the 100 bytes that belong to it if the
/// header is as long as that of the entry before. Further reads of the entry do not read the header again.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/objects/object_ranges.hpp"
#include "store/objects/object_store.hpp"
#include "store/zip/directory.hpp"

namespace plait::store::zip {

/// Ranges of the bytes of an entry as they are in the file, which may be deflated.
struct PackedRead {
  const Entry* entry = nullptr;
  std::vector<ReadSegment> ranges{};
};

/// An open zip file and its entries.  threads  Any number at once.
class Archive {
 public:
  /// Opens a local file.
  /// errors  kSystem: the file cannot be read, or is damaged.
  /// cost  Reads the directory, unless the process has read it for the last archive and the file has not changed.
  explicit Archive(const std::string& path);
  /// Opens an object whose directory has been read. entries: in the order of their names.
  Archive(std::unique_ptr<ObjectRanges> object, std::shared_ptr<const std::vector<Entry>> entries);

  const std::string& name() const { return file_->name(); }
  /// Returns the object that the file is; nullptr for a local file.
  const ObjectRanges* object() const { return object_; }
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
  /// Reads bytes of several entries by one batch.
  /// errors  kSystem: a local header is damaged.
  void read_packed(std::span<PackedRead> reads);
  /// Decompresses the bytes of a deflated entry.  errors  kSystem: damaged.
  void inflate(const Entry& entry, std::span<const std::byte> packed, std::span<std::byte> content) const;
  /// Compares the check sum of a whole content with that in the directory.  errors  kSystem: they differ.
  void check_sum(const Entry& entry, std::span<const std::byte> content) const;

 private:
  std::atomic<std::int64_t>& begin(const Entry& entry) {
    return begins_[static_cast<std::size_t>(&entry - entries().data())];
  }
  std::int64_t guess_begin(const Entry& entry) const;

  std::unique_ptr<Store> file_;
  const ObjectRanges* object_ = nullptr;
  ObjectIdentity identity_;  // identity of the file
  std::shared_ptr<const std::vector<Entry>> entries_;
  std::vector<std::atomic<std::int64_t>> begins_;  // offset of the bytes of each entry that was read; 0 before that
  std::atomic<std::int64_t> extra_ = 0;            // bytes that the last local header had after the name
};

/// Returns the entries of a zip file in the order of their names.  errors  Those of read_directory().
std::shared_ptr<const std::vector<Entry>> read_sorted(Store& file);

/// Returns true if a regular file begins like a zip file; false if it cannot be read.
bool is_archive(const std::string& path);
/// Returns the zip file of a location, which is the file itself, or continues after it; empty if there is none.
/// cost  One or more calls of stat(); opens the file if the location is one.
std::string archive_path(const std::string& location);

}  // namespace plait::store::zip
