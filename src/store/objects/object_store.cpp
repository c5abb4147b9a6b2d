#include "store/objects/object_store.hpp"

#include <cerrno>
#include <mutex>
#include <set>
#include <utility>

#include "base/errors.hpp"
#include "base/process.hpp"
#include "base/text.hpp"

namespace plait::store {

namespace {

/// The locations that this process has locked.
struct LockedLocations {
  std::mutex mutex;
  std::set<std::string> locations;
};

LockedLocations& locked_locations() {
  static base::PerProcess<LockedLocations> locked;
  return locked.get();
}

class LocationLock : public ObjectLock {
 public:
  explicit LocationLock(std::string location) : location_(std::move(location)) {}
  ~LocationLock() override {
    LockedLocations& locked = locked_locations();
    const std::scoped_lock lock(locked.mutex);
    locked.locations.erase(location_);
  }

 private:
  std::string location_;
};

}  // namespace

bool meets(const GetOptions& options, GetResult& result) {
  if (options.if_match != nullptr && result.identity != *options.if_match) {
    result.status = GetStatus::kMismatch;
    return false;
  }
  if (options.if_none_match != nullptr && result.identity == *options.if_none_match) {
    result.status = GetStatus::kMatch;
    return false;
  }
  return true;
}

bool resolve_offsets(std::vector<ReadSegment>& ranges, std::int64_t bytes) {
  for (ReadSegment& range : ranges) {
    if (range.offset < 0) range.offset += bytes;
    if (range.offset < 0 || range.offset > bytes || range.bytes > bytes - range.offset) return false;
  }
  return true;
}

std::unique_ptr<ObjectLock> ObjectStore::lock() {
  LockedLocations& locked = locked_locations();
  const std::scoped_lock lock(locked.mutex);
  if (!locked.locations.insert(name_).second) return nullptr;
  return std::make_unique<LocationLock>(name_);
}

std::string ObjectStore::object_location(std::string_view object) const { return base::text(name_, '/', object); }

void ObjectStore::get_all(std::span<GetRequest> requests, GetMemory memory, GetCallback done) {
  for (GetRequest& request : requests) {
    const auto memory_of_one = [&](std::int64_t bytes) { return memory(request, bytes); };
    request.result = request.whole ? get_whole(request.object, memory_of_one, request.options)
                                   : get(request.object, std::move(request.ranges), request.options);
    done(request);
  }
}

void ObjectStore::remove_all(std::span<const std::string> objects) {
  for (const std::string& object : objects) remove(object);
}

void ObjectStore::write(const std::string& object, std::vector<WriteSegment> /*segments*/) {
  base::throw_system_error(ENOTSUP, "cannot write parts of ", object_location(object),
                           ": objects of this store are replaced as a whole; put all of it");
}

}  // namespace plait::store
