/// Elements of a dataset, read by the HDF5 library.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "container/hdf5/dataset.hpp"
#include "container/hdf5/library.hpp"
#include "container/hdf5/ranges/range_file.hpp"
#include "store/store.hpp"

namespace plait::container::hdf5 {

/// A box of elements, and the array in memory that receives it, in C order. The box is stored at the beginning of each
/// dimension of that array.
struct LibraryBox {
  Extents first;    ///< index of the first element
  Extents count;    ///< number of elements along each dimension
  Extents extents;  ///< shape of the array in memory
};

/// A dataset that the library opens at the first read. One thread of a process reads at a time.
class LibraryReader {
 public:
  /// file: the store of the file. name: the name of the file and of the dataset.
  LibraryReader(std::shared_ptr<store::Store> file, const HdfDataset& dataset, std::string name);
  ~LibraryReader();
  LibraryReader(const LibraryReader&) = delete;
  LibraryReader& operator=(const LibraryReader&) = delete;

  /// Reads a box. Elements outside the shape that the dataset has in the file stay as they are.
  /// errors  kSystem: the library fails, such as for a damaged chunk or a missing plug-in; the message has its reason.
  void read(const LibraryBox& box, std::byte* into);

 private:
  struct OpenHandles {
    std::unique_ptr<RangeFile> ranges;  // for a file in an object store
    Handle file, dataset, space, type;
    Extents shape;
  };
  /// Opens the file and the dataset.  errors  Those of read().
  void open(const Library& hdf5);
  [[noreturn]] void fail(const Library& hdf5, const std::string& what) const;

  const std::shared_ptr<store::Store> file_;
  const std::string path_;  ///< path of the dataset in the file
  const std::string name_;
  const std::string file_path_;  ///< absolute, because the working directory may change before the first read
  const std::int64_t element_bytes_;
  const bool is_chunked_;
  std::unique_ptr<OpenHandles> handles_;
};

}  // namespace plait::container::hdf5
