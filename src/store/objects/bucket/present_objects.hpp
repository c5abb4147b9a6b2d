/// Objects that a killed program has left, and that its successor need not send again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "store/objects/bucket/bucket.hpp"
#include "store/objects/object_store.hpp"

namespace plait::store::bucket {

/// The objects at a location before the first put, with their sizes and ETags.  threads  Any.
class PresentObjects {
 public:
  PresentObjects(ObjectStore& objects, const Bucket& bucket) : objects_(objects), bucket_(bucket) {}

  /// Returns true if an object exists and has these bytes. Otherwise the caller puts it, so that later calls for it
  /// return false.
  /// cost  The first call lists all objects; others compute the MD5 of the bytes if the sizes are equal.
  /// errors  kSystem: the list fails.
  bool has(const std::string& object, std::span<const std::byte> bytes);

 private:
  struct Present {
    std::int64_t bytes = 0;
    std::string tag;
  };

  ObjectStore& objects_;
  const Bucket& bucket_;
  std::mutex mutex_;
  std::optional<std::map<std::string, Present>> present_;
};

}  // namespace plait::store::bucket
