/// Objects in memory, which also serve as a model of network stores in tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "store/objects/object_store.hpp"

namespace plait::store::memory {

/// All objects of one root by their locations, like a bucket in a network.
struct Bucket {
  struct Object {
    std::vector<std::byte> bytes;
    std::int64_t version = 0;
  };
  std::mutex mutex;
  std::map<std::string, Object> objects;
  std::int64_t versions = 0;  ///< number of contents that were ever put
  std::int64_t gets = 0;      ///< number of get requests so far
  std::int64_t heads = 0;
  std::int64_t puts = 0;
};

/// The objects of a bucket whose locations begin with `location/`.  Objects are replaced as a whole, as in a network,
/// unless `in_place` is true.
class MemoryObjects : public ObjectStore {
 public:
  MemoryObjects(std::shared_ptr<Bucket> bucket, const std::string& location, bool in_place)
      : ObjectStore(location), bucket_(std::move(bucket)), in_place_(in_place) {}

  using ObjectStore::get;
  using ObjectStore::put;
  GetResult get(const std::string& object, std::vector<ReadSegment> ranges, const GetOptions& options) override;
  GetResult get_whole(const std::string& object, base::FunctionRef<std::span<std::byte>(std::int64_t)> memory,
                      const GetOptions& options) override;
  ObjectIdentity identity(const std::string& object) override;
  bool contains(const std::string& object) override;
  void list(const std::string& prefix, ListDepth depth, base::FunctionRef<void(const ListedObject&)> visit) override;
  bool put(const std::string& object, std::span<const std::byte> bytes, const Condition& condition) override;
  std::unique_ptr<NewObject> create(const std::string& object) override;
  bool writes_in_place() const override { return in_place_; }
  void write(const std::string& object, std::vector<WriteSegment> segments) override;
  void remove(const std::string& object) override;

 private:
  std::shared_ptr<Bucket> bucket_;
  bool in_place_;
};

}  // namespace plait::store::memory
