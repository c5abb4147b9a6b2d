/// The content of one object as a store.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "store/objects/object_store.hpp"
#include "store/store.hpp"

namespace plait::store {

/// A small read-only object, such as the metadata of an array. One request reads all of it when it is used first.
class ObjectBytes : public Store {
 public:
  /// location: the location of the object, which need not exist.  errors  Those of open_objects().
  /// folder: the objects that this one is among; nullptr: they are opened when it is read.
  explicit ObjectBytes(std::string location, std::shared_ptr<ObjectStore> folder = nullptr);

  const std::string& name() const override { return location_; }
  /// Returns the size of the object.  errors  kSystem: ENOENT.  EFBIG: more than kMaxBytes.
  std::int64_t size() override;
  bool grows() const override { return false; }
  /// Returns the objects that were given to the constructor.
  const std::shared_ptr<ObjectStore>& folder() const { return folder_; }
  std::unique_ptr<Pending> submit_read(std::vector<ReadSegment> segments) override;
  std::unique_ptr<Pending> submit_write(std::vector<WriteSegment> segments) override;
  void sync() override {}

  static constexpr std::int64_t kMaxBytes = std::int64_t{32} << 20;

 private:
  class PendingBytes;
  /// Returns the bytes of the object; nothing if it does not exist.
  const std::optional<std::vector<std::byte>>& content();
  const std::vector<std::byte>& existing();

  std::string location_;
  std::shared_ptr<ObjectStore> folder_;
  std::mutex mutex_;
  bool read_ = false;
  std::optional<std::vector<std::byte>> content_;
};

/// Returns the objects that the metadata of an array is among, so that all objects of the array are of one archive.
/// location: the absolute location of the array, which is opened if the metadata does not come from such objects.
/// errors  Those of open_objects().
std::shared_ptr<ObjectStore> open_neighbors(const Store& metadata, const std::string& location);

}  // namespace plait::store
