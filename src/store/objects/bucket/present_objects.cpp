#include "store/objects/bucket/present_objects.hpp"

#include <iterator>

namespace plait::store::bucket {

bool PresentObjects::has(const std::string& object, std::span<const std::byte> bytes) {
  std::string tag;
  {
    const std::scoped_lock lock(mutex_);
    if (!present_) {
      std::map<std::string, Present> found;
      objects_.list("", ListDepth::kAll,
                    [&](const ListedObject& listed) { found[listed.name] = {listed.bytes, listed.tag}; });
      present_ = std::move(found);
    }
    const auto at = present_->find(object);
    if (at == present_->end()) return false;
    if (at->second.bytes == std::ssize(bytes)) tag = at->second.tag;
    if (tag.empty()) {
      present_->erase(at);
      return false;
    }
  }
  if (bucket_.has_bytes(tag, bytes)) return true;
  const std::scoped_lock lock(mutex_);
  present_->erase(object);
  return false;
}

}  // namespace plait::store::bucket
