/// Object stores of each kind, for tests that run with all of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "folder.hpp"
#include "store/objects/memory/memory_objects.hpp"
#include "store/objects/open_objects.hpp"

namespace object_case {

using plait::store::ObjectStore;
using plait::store::Sharing;

enum class Kind : std::uint8_t {
  kFolder,
  kMemory,  ///< objects are replaced as a whole, as in a network
  kMemoryInPlace,
  kConcurrent  ///< as kMemory, but all reads of a batch are pending at once
};

/// Performs all reads of a batch, and then reports them in reverse order, as a network may complete them.
class ConcurrentObjects : public plait::store::memory::MemoryObjects {
 public:
  using MemoryObjects::MemoryObjects;
  void get_all(std::span<plait::store::GetRequest> requests, GetMemory memory, GetCallback done) override {
    largest_batch_ = std::max(largest_batch_, requests.size());
    for (plait::store::GetRequest& request : requests) {
      const auto get_memory = [&](std::int64_t bytes) { return memory(request, bytes); };
      request.result = request.whole ? get_whole(request.object, get_memory, request.options)
                                     : get(request.object, request.ranges, request.options);
    }
    for (std::size_t i = requests.size(); i-- > 0;) done(requests[i]);
  }
  std::size_t largest_batch() const { return largest_batch_; }

 private:
  std::size_t largest_batch_ = 0;
};

/// Base of tests that run with each kind. open_objects() opens stores of that kind for locations below root().
class ObjectStoreTest : public plait_test::FolderTest {
 protected:
  explicit ObjectStoreTest(Kind kind) : kind_(kind) {
    if (kind == Kind::kFolder) return;
    const auto open = [this](const std::string& location) -> std::shared_ptr<ObjectStore> {
      if (kind_ == Kind::kConcurrent) return std::make_shared<ConcurrentObjects>(bucket_, location, false);
      return std::make_shared<plait::store::memory::MemoryObjects>(bucket_, location, kind_ == Kind::kMemoryInPlace);
    };
    added_ = std::make_unique<plait::store::AddedObjectStores>(path("in-memory"), open);
  }
  std::string root() const { return path(kind_ == Kind::kFolder ? "on-disk" : "in-memory"); }
  /// Returns the store of the objects below root()/name, as for a new array or group.
  std::shared_ptr<ObjectStore> objects(const std::string& name, Sharing sharing = Sharing::kShared) const {
    const std::string location = name.empty() ? root() : root() + '/' + name;
    if (kind_ == Kind::kFolder) std::filesystem::create_directories(location);
    return plait::store::open_objects(location, sharing);
  }

  Kind kind_;
  std::shared_ptr<plait::store::memory::Bucket> bucket_ = std::make_shared<plait::store::memory::Bucket>();

 private:
  std::unique_ptr<plait::store::AddedObjectStores> added_;
};

inline std::span<const std::byte> text_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

/// Returns the content of an object; "(missing)" if it does not exist.
inline std::string read_object(ObjectStore& objects, const std::string& object) {
  std::string text;
  const auto memory = [&](std::int64_t bytes) {
    text.resize(static_cast<std::size_t>(bytes));
    return std::as_writable_bytes(std::span(text));
  };
  return objects.get_whole(object, memory, {}).found() ? text : "(missing)";
}

inline std::string case_name(const testing::TestParamInfo<Kind>& info) {
  constexpr std::array<const char*, 4> kNames{"Folder", "Memory", "MemoryInPlace", "Concurrent"};
  return kNames[static_cast<std::size_t>(info.param)];
}

}  // namespace object_case
