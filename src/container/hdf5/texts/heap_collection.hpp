/// Collections of the global heap of a file (HDF5 File Format Specification 3.0, section III.E).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/store.hpp"

namespace plait::container::hdf5 {

/// A collection that has been read.
class HeapCollection {
 public:
  /// Reads the collection at an offset. name: the name of the array, for errors.
  /// errors  kSystem: there is no collection at the offset, or it is damaged.
  HeapCollection(store::Store& file, std::int64_t offset, const std::string& name);

  /// Returns the first `bytes` bytes of an object.  errors  kSystem: there is no such object, or it is shorter.
  std::string_view object(std::uint32_t number, std::uint32_t bytes) const;

 private:
  struct Object {
    std::size_t offset = 0;  ///< offset of its bytes in the collection; 0 if the number is unused
    std::size_t bytes = 0;
  };
  void read(store::Store& file);
  /// Finds the objects in the bytes of the collection.
  void list_objects();
  template <typename... Parts>
  [[noreturn]] void throw_damaged(const Parts&... why) const;

  const std::string& name_;
  std::int64_t offset_;
  std::vector<std::byte> bytes_;
  std::vector<Object> objects_;
};

/// A collection that is being filled.
class NewHeapCollection {
 public:
  NewHeapCollection();
  /// Returns true if the collection has reached its usual size or the maximum number of objects, and should be written.
  bool is_full() const;
  bool empty() const { return count_ == 0; }
  /// Adds an object, which may be larger than the usual size of a collection. Returns its number.
  std::uint32_t add(std::string_view object);
  /// Completes the collection, and returns its bytes, which are valid until clear().
  std::span<const std::byte> finish();
  void clear();

 private:
  std::vector<std::byte> bytes_;
  std::uint32_t count_ = 0;  ///< number of objects
};

}  // namespace plait::container::hdf5
