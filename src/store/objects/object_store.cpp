#include "store/objects/object_store.hpp"

#include <cerrno>

#include "base/text.hpp"
#include "plait/error.hpp"

namespace plait::store {

std::string ObjectStore::name_of(std::string_view object) const { return base::text(name_, '/', object); }

void ObjectStore::write(const std::string& object, std::vector<WriteSegment> /*segments*/) {
  throw Error(ErrorKind::kSystem,
              base::text("cannot write parts of ", name_of(object),
                         ": objects of this store are replaced as a whole; put all of it"),
              ENOTSUP);
}

}  // namespace plait::store
