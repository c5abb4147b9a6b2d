#include "store/objects/memory/buckets.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/process.hpp"
#include "store/objects/memory/memory_objects.hpp"
#include "store/objects/object_url.hpp"

namespace plait::store::memory {

namespace {

struct Buckets {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Bucket>, std::less<>> by_name;
};

std::shared_ptr<Bucket> bucket(std::string_view name) {
  static base::PerProcess<Buckets> buckets;
  Buckets& all = buckets.get();
  const std::scoped_lock lock(all.mutex);
  std::shared_ptr<Bucket>& found = all.by_name[std::string(name)];
  if (!found) found = std::make_shared<Bucket>();
  return found;
}

std::shared_ptr<ObjectStore> open(const std::string& url, Sharing /*sharing*/) {
  const ObjectUrl parts = parse_object_url(url);
  const auto bytes = static_cast<std::size_t>(parts.key.data() + parts.key.size() - parts.scheme.data());
  return std::make_shared<MemoryObjects>(bucket(parts.bucket), url.substr(0, bytes), false);
}

}  // namespace

const ObjectStoreKind& kind() {
  static constexpr ObjectStoreKind kKind{
      .scheme = "memory",
      .open = open,
      .one_process = true,
      .missing = "objects in memory exist only in the process that has written them",
  };
  return kKind;
}

}  // namespace plait::store::memory
