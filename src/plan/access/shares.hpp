/// The shares of a section, one for each reader, and the windows of each share.
#pragma once

#include <cstdint>

#include "plan/access/staging.hpp"
#include "plan/access/storage_unit.hpp"
#include "plan/section/section.hpp"

namespace plait::plan {

/// The limits of shares and windows, apart from the section.
struct ShareBounds {
  std::int64_t element_bytes = 1;
  std::int64_t data_offset = 0;  ///< offset of the array in the file
  std::int64_t storage_unit = kStorageUnit;
  std::int64_t max_window = 1;                     ///< maximum number of elements of a window
  std::int64_t window_bytes = kWindowBytes;        ///< size of windows if the memory suffices
  std::int64_t chunk_window_bytes = kWindowBytes;  ///< the same for windows of whole chunks
  /// Minimum number of windows of a share, unless they would be smaller than kMinWindowBytes.
  std::int64_t min_windows = 1;
  bool whole_shards = false;  ///< each shard belongs to one reader
};

/// Returns the maximum useful number of readers.  With more of them, a share would be smaller than 64 KiB.
std::int64_t max_readers(std::int64_t elements, std::int64_t element_bytes, std::int64_t workers);

/// The file's order as a layout: the section's positions in equal consecutive shares, and each share in windows of
/// equal size.  A value that does not refer to the section: its functions take the section that the constructor
/// divided.
class Shares {
 public:
  Shares() = default;
  /// Divides a section among this number of readers, or fewer if the shares would be too small.
  Shares(const Section& section, std::int64_t readers, const ShareBounds& bounds);

  std::int64_t readers() const { return readers_; }
  /// Return the elements of the longest share and of a full window, and the number of windows of the longest share.
  std::int64_t share_elements() const { return share_; }
  std::int64_t window_elements() const { return window_; }
  std::int64_t windows() const { return windows_; }

  /// Returns the share of a reader, empty for readers() and above.
  PositionRange share(const Section& section, std::int64_t reader) const;
  /// Returns a window of a share.  Numbers count from 0; a window after the last one is empty.
  PositionRange window(const Section& section, std::int64_t reader, std::int64_t number) const;
  /// Returns the reader whose share has a position.
  std::int64_t reader_at(const Section& section, std::int64_t position) const;

  /// True if windows are pieces of chunks.  Then one reader must transfer its whole share, so that it accesses each
  /// chunk once.
  bool cuts_chunks() const { return in_chunks_ && window_chunks_ == 0; }
  /// True if only the reader of a share may transfer its windows, because no other one may access the same chunks or
  /// shards.
  bool reader_transfers_alone() const { return cuts_chunks() || whole_shards_; }

 private:
  void divide_chunks(const Chunks& chunks, std::int64_t readers);
  void divide_units(const Section& section, std::int64_t readers, const ShareBounds& bounds);
  void size_windows(const Section& section, const ShareBounds& bounds);
  void size_windows_of_chunks(const Section& section, const ShareBounds& bounds);
  std::int64_t first_chunk(const Chunks& chunks, std::int64_t reader) const;

  std::int64_t readers_ = 1;
  std::int64_t share_ = 1;          // elements of the longest share
  std::int64_t window_ = 1;         // elements of a full window
  std::int64_t windows_ = 0;        // windows of the longest share
  std::int64_t unit_ = 1;           // elements of a storage unit, unless the array is stored in chunks
  std::int64_t shift_ = 0;          // elements from the beginning of a unit to the section
  std::int64_t share_units_ = 0;    // chunks or shards of a share, if the array is stored in chunks
  std::int64_t window_chunks_ = 0;  // chunks of a window; 0: windows are pieces of chunks
  bool in_chunks_ = false;
  bool whole_shards_ = false;
};

}  // namespace plait::plan
