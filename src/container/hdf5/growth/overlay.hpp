/// An overlay: changes of a file that have not been written to the file yet.
///
/// Problem: the HDF5 library changes metadata of a file in place, and allocates the space of new chunks itself. Chunks
/// that are appended to a dataset are in the file before the library knows them, and must not be copied.
///
/// Idea: the library works on an overlay. Pages that it writes are copied to memory; all others are read from the file.
/// New metadata gets space after the appended chunks. When the library allocates the space of a chunk, the overlay
/// returns the offset where the chunk is already stored.
///
/// Example: a file of 10,000 bytes, after which a chunk of 300 bytes is stored at 10,032. The overlay is made with
/// free_offset = 10,364, after the chunk and another header of the log. direct_next_allocation(10,032, 300) makes the
/// next allocation of 300 bytes for elements return 10,032, and the library enters this offset into the index. It needs
/// a new node of 400 bytes for that, which gets the next multiple of 8, 10,368. changes() returns the node, the changed
/// bytes of the other nodes, and the new end 10,768.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "container/hdf5/changing/file_patch.hpp"

namespace plait::container::hdf5 {

/// threads  One at a time.
class Overlay {
 public:
  /// file: a descriptor of the file, which is not changed. free_offset: the offset from which on new space is
  /// allocated.
  /// errors  kSystem: the file cannot be read.
  Overlay(int file, std::int64_t free_offset);

  void read(std::int64_t offset, std::span<std::byte> into);
  void write(std::int64_t offset, std::span<const std::byte> bytes);
  /// Makes the next allocation of `bytes` bytes for elements return `offset`, where the elements are stored already.
  /// The driver discards writes there.
  void direct_next_allocation(std::int64_t offset, std::int64_t bytes);
  /// Makes all later allocations return new space.
  void end_directing() { direct_next_allocation(-1, 0); }
  /// Allocates space, and returns its offset. is_elements: true if it is for elements, not for metadata.
  std::int64_t allocate(std::int64_t bytes, bool is_elements);
  /// Returns true if `offset` is in the space of direct_next_allocation(), and that space has been allocated.
  bool is_in_directed_space(std::int64_t offset) const {
    return has_returned_directed_ && offset >= directed_offset_ && offset < directed_offset_ + directed_bytes_;
  }
  /// Returns the end of the file as the library sees it, which is after the appended chunks: the library may extend a
  /// block that ends there in place.
  std::int64_t end() const { return std::max(end_, free_offset_); }
  /// Sets the end of the file, as the library does, for example, when it opens the file.
  void set_end(std::int64_t end) {
    end_ = end;
    if (end > free_offset_) allocated_end_ = std::max(allocated_end_, end);
  }
  /// The size of the file, without changes.
  std::int64_t size() const { return size_; }
  /// The size of the file with all space that has been allocated.
  std::int64_t changed_size() const { return std::max(size_, allocated_end_); }
  /// Returns the changed bytes.
  FilePatch changes() const;

 private:
  struct Page {
    std::vector<std::byte> before;
    std::vector<std::byte> now;
  };
  /// Reads the file, and zeros after its end.
  void read_file(std::int64_t offset, std::span<std::byte> into) const;
  /// Returns a page in memory; the first call for a page copies it from the file.
  Page& changed_page(std::int64_t number);

  int file_;
  std::int64_t size_;  ///< size of the file
  std::int64_t free_offset_;
  std::int64_t end_ = 0;            ///< end of the file that the library has set, or after the last allocation
  std::int64_t allocated_end_ = 0;  ///< the end of all space that has been allocated; set_end() never reduces it
  std::int64_t directed_offset_ = -1;
  std::int64_t directed_bytes_ = 0;
  bool has_returned_directed_ = false;  ///< true if an allocation has returned directed_offset_
  std::map<std::int64_t, Page> pages_;
};

}  // namespace plait::container::hdf5
