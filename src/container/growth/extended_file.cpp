#include "container/growth/extended_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "store/posix/byte_lock.hpp"
#include "store/posix/identity.hpp"

namespace plait::container {

ExtendedFile::ExtendedFile(store::Store& store, const std::string& name) : name_(name) {
  const auto identity = store.file_identity();
  if (!identity)
    base::throw_argument_error(name, " cannot grow: only an ordinary file grows at its end; copy it to one");
  file_ = store::posix::open_file(store.name(), O_RDWR);
  store::posix::check_not_replaced(file_.number(), *identity, name);
  if (!store::posix::lock_byte(file_.number(), 0, store::posix::Wait::kNo))
    base::throw_system_error(EBUSY, name,
                             ": its file is being extended, by another program or under another name here; close it "
                             "there first");
}

void ExtendedFile::resize(std::int64_t end) {
  if (::ftruncate(file_.number(), end) != 0) throw store::posix::system_error("extend " + name_, errno);
}

}  // namespace plait::container
