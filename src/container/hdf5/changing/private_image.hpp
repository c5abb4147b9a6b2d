/// A private image of an HDF5 file, in which the library changes metadata without writing to the file.
///
/// Problem: the library overwrites metadata in place, so a kill within H5Fclose can leave a file that no program can
/// read.
///
/// Idea: the file is mapped copy-on-write, with address space after its end for growth, and the library's core driver
/// uses the mapping as its memory. The pages that the library has written are those that the kernel has copied, which
/// /proc/self/pagemap shows.
///
/// Example: to change one attribute of a file of 1 GiB the library writes 2 pages of 4 KiB. The mapping has 2 GiB, so
/// that check_exact() reads 4 MiB of page flags. The other 262,142 pages of the file are not copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "container/hdf5/changing/file_patch.hpp"
#include "container/hdf5/library.hpp"

namespace plait::container::hdf5 {

/// threads  One image at a time, under the lock of Library.
class PrivateImage {
 public:
  PrivateImage(int file, std::int64_t size);
  ~PrivateImage();
  PrivateImage(const PrivateImage&) = delete;
  PrivateImage& operator=(const PrivateImage&) = delete;

  /// Changes one page as a trial. Returns false if the file cannot be mapped, or the kernel does not show copied pages.
  bool is_usable();
  /// Discards all changes, and copies the pages that the library changed in former trials. Returns false if mapping
  /// fails.
  bool reset();
  /// Returns the file access properties for H5Fopen(); an empty handle if the library rejects the image.
  Handle access(const Library& hdf5);
  /// Returns true if the library has changed only pages that reset() had copied, so that their former content is known.
  /// Otherwise records the other pages for the next reset(), and returns false: repeat the change after that.
  bool check_exact();
  /// Returns the changed bytes; nothing if the image has no superblock of a known version.
  std::optional<FilePatch> changes() const;

 private:
  /// Returns the numbers of the pages that the kernel has copied, among the first `count`; nothing if it does not show
  /// them.
  std::optional<std::vector<std::int64_t>> copied_pages(std::int64_t count) const;
  /// Returns the end of the file that the superblock of the image states; nothing if its version is unknown.
  std::optional<std::int64_t> stored_end() const;

  struct Page {
    std::int64_t number = 0;  ///< offset in the file, in pages
    std::vector<std::byte> before;
  };

  int file_;
  std::int64_t size_;  ///< size of the file
  std::int64_t page_bytes_;
  std::int64_t reserved_bytes_ = 0;  ///< size of the mapping: the file, and address space after its end
  std::byte* begin_ = nullptr;
  std::vector<Page> pages_;  ///< the pages that the library has changed in some trial, by ascending number
};

}  // namespace plait::container::hdf5
