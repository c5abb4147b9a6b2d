/// A part of a file in memory, of which some bytes are read or written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mpiio/lists/file_lock.hpp"

namespace plait::mpiio {

/// Bytes of a window that a rank reads or writes.
struct Piece {
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
};

/// The functions that read and write return 0, or the errno of the first call that fails.
class FileWindow {
 public:
  /// Begins a window at a byte of the file. No byte is covered.
  void start(std::int64_t begin, std::int64_t bytes);
  /// Covers the bytes of pieces. Pieces may overlap those that are covered already.
  void cover(std::span<const Piece> pieces);

  /// Reads the covered bytes. Those after the end of the file become 0.
  int read(int descriptor);
  /// Begins to write the covered bytes: locks them, and reads the holes that end_write() writes again. fill() must come
  /// in between.
  /// sieves  true if holes between small runs may be written again
  int begin_write(int descriptor, bool sieves);
  /// Writes the covered bytes if `writes` is true, and unlocks them.
  int end_write(int descriptor, bool writes);

  /// Copies pieces of the window from bytes that are one after another, or to such bytes.
  void fill(std::span<const Piece> pieces, const std::byte* source);
  void extract(std::span<const Piece> pieces, std::byte* target) const;

 private:
  /// Covered bytes, in a range without large holes.
  struct Group {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t runs = 0;

    /// True if there is less than 1 KiB from one run to the next on average.
    bool has_small_runs() const { return runs > 16 && end - begin < runs << 10; }
  };

  void find_groups();
  /// True between begin_write() and end_write() if a group is read and then written by one call each.
  bool is_sieved(const Group& group) const { return lock_.is_held() && group.has_small_runs(); }
  /// Returns the first byte at `from` or after it whose bit equals `is_covered`; the end of the bits if there is none.
  std::int64_t find(std::int64_t from, bool is_covered) const;

  std::int64_t begin_ = 0;
  std::vector<std::byte> data_;
  std::vector<std::uint64_t> bits_;  ///< one for each byte: whether it is covered
  std::vector<Group> groups_;
  FileLock lock_;
  bool has_locks_ = true;  ///< false after a lock could not be obtained
};

}  // namespace plait::mpiio
