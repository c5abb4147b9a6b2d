#include "store/objects/object_store.hpp"

#include <cerrno>

#include "base/errors.hpp"
#include "base/text.hpp"

namespace plait::store {

std::string ObjectStore::name_of(std::string_view object) const { return base::text(name_, '/', object); }

void ObjectStore::write(const std::string& object, std::vector<WriteSegment> /*segments*/) {
  base::throw_system_error(ENOTSUP, "cannot write parts of ", name_of(object),
                           ": objects of this store are replaced as a whole; put all of it");
}

}  // namespace plait::store
