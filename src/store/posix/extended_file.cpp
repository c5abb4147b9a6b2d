#include "store/posix/extended_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "store/posix/byte_lock.hpp"
#include "store/posix/identity.hpp"

namespace plait::store::posix {

ExtendedFile::ExtendedFile(Store& store, const std::string& name) : name_(name) {
  const auto identity = store.file_identity();
  if (!identity)
    base::throw_argument_error(name, " cannot grow: only an ordinary file grows at its end; copy it to one");
  file_ = open_file(store.name(), O_RDWR);
  check_not_replaced(file_.number(), *identity, name);
  if (!lock_byte(file_.number(), 0, Wait::kNo))
    base::throw_system_error(EBUSY, name,
                             ": its file is being extended, by another program or under another name here; close it "
                             "there first");
}

void ExtendedFile::resize(std::int64_t end) {
  if (::ftruncate(file_.number(), end) != 0) throw system_error("extend " + name_, errno);
}

}  // namespace plait::store::posix
