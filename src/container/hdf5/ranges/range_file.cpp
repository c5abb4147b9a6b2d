// Files in object stores for the HDF5 library.
//
// Problem: the library opens files by their paths, and reads them in small pieces.
//
// Idea: a driver whose read() copies from the blocks of a cache. All files of a process share the last few caches,
// because copying a file opens it once for each array. A cache belongs to one version of an object: every request has
// the condition that the object still has the ETag (the server's identity of the content) of the cache.
//
// Example: a program opens x of s3://b/a.nc, a file of 1 GB. The request for the object's size has also returned its
// first block, from which the library reads the superblock. The library then reads the description of x at 90,000 by
// one more request. Opening y sends a request for the size, which returns the same ETag, and finds the description of y
// at 95,000 in the cache.

#include "container/hdf5/ranges/range_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "container/hdf5/drivers/driver_class.hpp"
#include "plait/error.hpp"

namespace plait::container::hdf5 {

namespace {

constexpr std::size_t kMaxCaches = 4;

/// A cache, and the identity of the content that is cached in it.
struct NamedCache {
  std::string identity;
  std::shared_ptr<BlockCache> cache;
};

/// Returns the cache for a content of an object; a new one if the content has no identity.
/// threads  The caller holds the Library.
std::shared_ptr<BlockCache> find_cache(const std::string& identity) {
  static std::vector<NamedCache> caches;  // the most recently used one last
  if (identity.empty()) return std::make_shared<BlockCache>();
  if (const auto found = std::ranges::find(caches, identity, &NamedCache::identity); found != caches.end()) {
    std::rotate(found, found + 1, caches.end());
    return caches.back().cache;
  }
  if (caches.size() == kMaxCaches) caches.erase(caches.begin());
  return caches.emplace_back(identity, std::make_shared<BlockCache>()).cache;
}

/// An open file of the driver. The first bytes belong to the library.
struct alignas(std::max_align_t) RangeDriverFile {
  std::array<std::byte, kLibraryBytes> library_part{};
  RangeFile* file = nullptr;
  haddr_t end_of_space = 0;
};

/// The file that open_ranges() opens next. It is global, because the library passes no other data to open(); the lock
/// of Library lets one thread at a time use it. It is null while the library opens other files with the same
/// properties.
RangeFile*& next_file() {
  static RangeFile* next = nullptr;
  return next;
}

RangeDriverFile& to_range_file(H5FD_t* file) { return *reinterpret_cast<RangeDriverFile*>(file); }
const RangeDriverFile& to_range_file(const H5FD_t* file) { return *reinterpret_cast<const RangeDriverFile*>(file); }

H5FD_t* open_ranges(const char* /*name*/, unsigned flags, hid_t /*access*/, haddr_t /*max*/) {
  if (next_file() == nullptr || flags != kReadOnly) return nullptr;
  auto file = std::make_unique<RangeDriverFile>();
  file->file = next_file();
  return reinterpret_cast<H5FD_t*>(file.release());
}
herr_t close_ranges(H5FD_t* file) {
  const std::unique_ptr<RangeDriverFile> closed(&to_range_file(file));
  return 0;
}
herr_t query_ranges(const H5FD_t* /*file*/, unsigned long* flags) {
  *flags = 0;
  return 0;
}
haddr_t end_of_ranges_space(const H5FD_t* file, H5FD_mem_t /*type*/) { return to_range_file(file).end_of_space; }
herr_t set_end_of_ranges_space(H5FD_t* file, H5FD_mem_t /*type*/, haddr_t end) {
  to_range_file(file).end_of_space = end;
  return 0;
}
haddr_t end_of_ranges(const H5FD_t* file, H5FD_mem_t /*type*/) {
  return static_cast<haddr_t>(to_range_file(file).file->size());
}
herr_t read_ranges(H5FD_t* file, H5FD_mem_t /*type*/, hid_t /*transfer*/, haddr_t at, std::size_t bytes, void* into) {
  const bool is_read =
      to_range_file(file).file->read(static_cast<std::int64_t>(at), {static_cast<std::byte*>(into), bytes});
  return is_read ? 0 : -1;
}
herr_t write_ranges(H5FD_t* /*file*/, H5FD_mem_t /*type*/, hid_t /*transfer*/, haddr_t /*at*/, std::size_t /*bytes*/,
                    const void* /*from*/) {
  return -1;
}

/// Returns the library's identifier of the driver, which the first call registers; negative if the library does not
/// accept it.
hid_t range_driver(const Library& hdf5) {
  static const hid_t kDriver = [&] {
    DriverFunctions functions;
    functions.name = "plait_ranges";
    functions.open = open_ranges;
    functions.close = close_ranges;
    functions.query = query_ranges;
    functions.end_of_space = end_of_ranges_space;
    functions.set_end_of_space = set_end_of_ranges_space;
    functions.end_of_file = end_of_ranges;
    functions.read = read_ranges;
    functions.write = write_ranges;
    return register_driver(hdf5, functions, /*number=*/1);
  }();
  return kDriver;
}

}  // namespace

RangeFile::RangeFile(store::Store& object) : object_(object), cache_(find_cache(*object.object_identity())) {}

Handle RangeFile::open(const Library& hdf5, const std::string& path) {
  const Handle access = make_driver_access(hdf5, range_driver(hdf5));
  if (!access)
    base::throw_system_error(ELIBACC, path, " cannot be read from an object store by ", hdf5.describe(),
                             hdf5.last_error(),
                             ", which does not accept Plait's file driver; name another version in PLAIT_HDF5, or copy "
                             "the object into a file");
  next_file() = this;
  Handle file(hdf5->H5Fopen(object_.name().c_str(), kReadOnly, access.id()), hdf5->H5Fclose);
  next_file() = nullptr;
  check();
  if (!file)
    base::throw_system_error(EIO, path, " cannot be opened as an HDF5 file by ", hdf5.describe(), hdf5.last_error(),
                             "; copy or upload it again");
  return file;
}

void RangeFile::check() const {
  if (failure_) std::rethrow_exception(failure_);
}

bool RangeFile::read(std::int64_t offset, std::span<std::byte> into) noexcept {
  if (failure_) return false;
  if (offset < 0 || std::ssize(into) > object_.size() - offset) return false;  // the file is damaged
  try {
    cache_->read(object_, offset, into);
    return true;
  } catch (...) {
    failure_ = std::current_exception();
    return false;
  }
}

void RangeFile::prefetch_index(const IndexLocation& index) {
  cache_->begin_prefetch();
  CachedStore cached(object_, *cache_);
  try {
    IndexNodes(cached, index).visit([&](std::span<const FileRange> nodes) { cache_->prefetch(object_, nodes); });
  } catch (const Error& error) {
    // Ignore EIO: the library reads the index next. It reports damaged metadata more precisely, and repeats a request
    // that has failed.
    if (error.system_code() != EIO) throw;
  }
}

}  // namespace plait::container::hdf5
