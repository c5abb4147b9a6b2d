#include "store/objects/object_bytes.hpp"

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>

#include "base/errors.hpp"
#include "store/objects/open_objects.hpp"

namespace plait::store {

/// A read that takes effect when it is completed.
class ObjectBytes::PendingBytes : public Pending {
 public:
  PendingBytes(ObjectBytes& object, std::vector<ReadSegment> segments)
      : object_(object), segments_(std::move(segments)) {}
  void complete() override {
    const std::vector<std::byte>& content = object_.existing();
    const auto size = static_cast<std::int64_t>(content.size());
    for (const ReadSegment& segment : segments_) {
      if (segment.offset < 0 || segment.bytes > size - segment.offset)
        base::throw_system_error(EIO, "cannot read ", segment.bytes, " bytes at offset ", segment.offset, " of ",
                                 object_.name(), ", which has ", size);
      std::copy_n(content.begin() + segment.offset, segment.bytes, segment.data);
    }
  }

 private:
  ObjectBytes& object_;
  std::vector<ReadSegment> segments_;
};

ObjectBytes::ObjectBytes(std::string location, std::shared_ptr<ObjectStore> folder)
    : location_(std::move(location)), folder_(std::move(folder)) {}

const std::optional<std::vector<std::byte>>& ObjectBytes::content() {
  const std::scoped_lock lock(mutex_);
  if (read_) return content_;
  const std::size_t slash = location_.rfind('/');
  const std::shared_ptr<ObjectStore> objects =
      folder_ ? folder_ : open_objects(location_.substr(0, slash), Sharing::kShared);
  std::vector<std::byte> bytes;
  const auto memory = [&](std::int64_t size) {
    if (size > kMaxBytes)
      base::throw_system_error(EFBIG, "cannot read ", location_, ": it has ", size, " bytes, and metadata at most ",
                               kMaxBytes, "; copy or download it again");
    bytes.resize(static_cast<std::size_t>(size));
    return std::span(bytes);
  };
  if (objects->get_whole(location_.substr(slash + 1), memory, {.max_bytes = kMaxBytes}).found())
    content_ = std::move(bytes);
  read_ = true;
  return content_;
}

const std::vector<std::byte>& ObjectBytes::existing() {
  const std::optional<std::vector<std::byte>>& found = content();
  if (!found) base::throw_system_error(ENOENT, "cannot read ", location_, ": there is no such object; check the name");
  return *found;
}

std::int64_t ObjectBytes::size() { return static_cast<std::int64_t>(existing().size()); }

std::unique_ptr<Pending> ObjectBytes::submit_read(std::vector<ReadSegment> segments) {
  return std::make_unique<PendingBytes>(*this, std::move(segments));
}

std::unique_ptr<Pending> ObjectBytes::submit_write(std::vector<WriteSegment> /*segments*/) {
  base::throw_system_error(ENOTSUP, "cannot write parts of ", location_, ": objects are replaced as a whole");
}

std::shared_ptr<ObjectStore> open_neighbors(const Store& metadata, const std::string& location) {
  const auto* const bytes = dynamic_cast<const ObjectBytes*>(&metadata);
  if (bytes != nullptr && bytes->folder()) return bytes->folder();
  return open_objects(location, Sharing::kShared);
}

}  // namespace plait::store
