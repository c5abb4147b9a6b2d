/// Zip files that are open for reading: local files, and objects in object stores.
///
/// Example: zarr-python's ZipStore writes `zarr.json` and `c/0/0` of an array, both without compression. A read of 100
/// bytes at offset 400 of `c/0/0` reads the 30 bytes of its local header and, at the same time, the 100 bytes at the
/// offset that is right if this header is as long as the last one. Further reads of the entry do not read the header.
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

/// A read of bytes of an entry as they are stored in the file, possibly deflated.
struct CompressedRead {
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
  /// Returns the object that contains the archive; nullptr for a local file.
  const ObjectRanges* object() const { return object_; }
  /// Returns the entries in the order of their names. If several entries have the same name, only the last is listed.
  const std::vector<Entry>& entries() const { return *entries_; }
  /// Returns nullptr if there is no entry of this name.
  const Entry* find(std::string_view name) const;
  /// Returns the identity of an entry's content: that of the file, and the offset of the entry.
  ObjectIdentity identity(const Entry& entry) const;
  /// Checks that an entry can be read, before memory is allocated for it.
  /// errors  kSystem: its sizes are impossible.  kArgument: the entry is encrypted, or compressed by another method
  ///         than deflate.
  void check_readable(const Entry& entry) const;
  /// Reads ranges of the content of an entry.
  /// errors  kSystem: the entry is damaged.  kArgument: those of check().
  void read(const Entry& entry, std::vector<ReadSegment> ranges);
  /// Reads bytes of several entries, as they are stored, by one batch.
  /// errors  kSystem: a local header is damaged.
  void read_compressed(std::span<CompressedRead> reads);
  /// Decompresses the bytes of a deflated entry, and verifies their checksum.  errors  kSystem: they are damaged.
  void inflate(const Entry& entry, std::span<const std::byte> compressed, std::span<std::byte> content) const;
  /// Compares the checksum of the whole content of an entry with the one in the directory.
  /// errors  kSystem: they differ.
  void verify_checksum(const Entry& entry, std::span<const std::byte> content) const;

 private:
  /// Returns the offset of the bytes of an entry; 0 if it is not known yet.
  std::atomic<std::int64_t>& data_begin(const Entry& entry) {
    return data_begins_[static_cast<std::size_t>(&entry - entries().data())];
  }
  std::int64_t guess_data_begin(const Entry& entry) const;

  std::unique_ptr<Store> file_;
  const ObjectRanges* object_ = nullptr;
  ObjectIdentity identity_;  // identity of the file
  std::shared_ptr<const std::vector<Entry>> entries_;
  std::vector<std::atomic<std::int64_t>> data_begins_;  // offset of the bytes of each entry; 0 until it has been read
  std::atomic<std::int64_t> last_extra_bytes_ = 0;      // bytes after the name in the local header that was read last
};

/// Returns the entries of a zip file in the order of their names.  errors  Those of read_directory().
std::shared_ptr<const std::vector<Entry>> read_sorted_entries(Store& file);

/// Returns true if a regular file begins like a zip file; false if it cannot be read.
bool is_archive(const std::string& path);
/// Returns the path of the zip file in a location, which is the zip file itself or the path of an entry in it; empty if
/// there is none.
/// cost  One or more calls of stat(); opens the file if the location is one.
std::string archive_path(const std::string& location);

}  // namespace plait::store::zip
