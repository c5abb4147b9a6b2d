/// The file driver by which the HDF5 library reads files in object stores.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>

#include "container/hdf5/library.hpp"
#include "container/hdf5/ranges/block_cache.hpp"
#include "container/hdf5/ranges/index_nodes.hpp"
#include "store/store.hpp"

namespace plait::container::hdf5 {

/// An object that the library reads as a file. All requests are made under the lock of Library.
///
/// The library reports a failed request as a damaged file, and in some functions ignores it, for example while it
/// searches for an attribute. Each use of the file therefore ends with check(), which throws the error of the request.
/// After a failure no more requests are sent.
class RangeFile {
 public:
  /// object: has an object_identity(), and outlives this object and the files that open() returns.
  explicit RangeFile(store::Store& object);
  ~RangeFile() { cache_->end_file(); }
  RangeFile(const RangeFile&) = delete;
  RangeFile& operator=(const RangeFile&) = delete;

  /// Opens the object in the library.  path: the name of the file in errors.
  /// errors  Those of the requests.  kSystem, EIO: it is not an HDF5 file; ELIBACC: the library rejects the driver.
  Handle open(const Library& hdf5, const std::string& path);
  /// Throws the error of the first request that has failed.
  void check() const;
  bool has_failed() const { return failure_ != nullptr; }
  /// Returns an identity that no other content has; empty if the server does not state one.
  std::string identity() const { return *object_.object_identity(); }
  /// Reads the index of chunks in advance by few requests, if it is one of those whose parts are scattered in the file.
  /// errors  Those of the requests.
  void prefetch_index(const IndexLocation& index);

  /// Reads for the library.  Returns false if a request has failed.
  bool read(std::int64_t offset, std::span<std::byte> into) noexcept;
  std::int64_t size() { return object_.size(); }

 private:
  store::Store& object_;
  std::shared_ptr<BlockCache> cache_;  ///< shared by all opened files with the same content
  std::exception_ptr failure_;
};

/// Throws the error of the first request that has failed. file: nullptr for an ordinary file.
inline void check_requests(const RangeFile* file) {
  if (file != nullptr) file->check();
}

}  // namespace plait::container::hdf5
