#include "store/objects/object_store.hpp"

#include <cerrno>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"

namespace plait::store {

std::string ObjectStore::object_location(std::string_view object) const { return base::text(name_, '/', object); }

void ObjectStore::get_all(std::span<GetRequest> requests, GetMemory memory, GetCallback done) {
  for (GetRequest& request : requests) {
    const auto memory_of_one = [&](std::int64_t bytes) { return memory(request, bytes); };
    request.result = request.whole ? get_whole(request.object, memory_of_one, request.options)
                                   : get(request.object, std::move(request.ranges), request.options);
    done(request);
  }
}

void ObjectStore::write(const std::string& object, std::vector<WriteSegment> /*segments*/) {
  base::throw_system_error(ENOTSUP, "cannot write parts of ", object_location(object),
                           ": objects of this store are replaced as a whole; put all of it");
}

}  // namespace plait::store
