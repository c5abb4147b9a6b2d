#include "store/posix/byte_lock.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/wait/interruption.hpp"
#include "base/wait/lock_wait.hpp"

namespace plait::store::posix {

namespace {

/// Number of the byte that lock_name() locks: the last one, because other callers number their bytes from 0.
constexpr std::int64_t kNameLock = kLockOffset - 1;

/// Sets or removes the lock of a byte, as fcntl() does. Returns 0, or the error number.
int set_lock(int file, std::int64_t number, short type, int command) noexcept {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = kLockOffset + number % kLockOffset;
  lock.l_len = 1;
  while (::fcntl(file, command, &lock) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

}  // namespace

bool lock_byte(int file, std::int64_t number, Wait wait) {
  const int error = set_lock(file, number, F_WRLCK, wait == Wait::kYes ? F_OFD_SETLKW : F_OFD_SETLK);
  return error != EAGAIN && error != EACCES;
}

Descriptor lock_name(const std::string& path) {
  constexpr int kMaxAttempts = 10'000;
  Descriptor file;
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    file = Descriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (file.number() < 0) break;
    if (base::can_be_interrupted()) {
      base::wait_for_lock([&] { return lock_byte(file.number(), kNameLock, Wait::kNo); });
    } else {
      (void)lock_byte(file.number(), kNameLock, Wait::kYes);
    }
    // While this call waited, the holder of the lock may have replaced the file: then lock the new one.
    struct stat locked{};
    struct stat named{};
    if (::fstat(file.number(), &locked) == 0 && ::stat(path.c_str(), &named) == 0 && locked.st_dev == named.st_dev &&
        locked.st_ino == named.st_ino)
      break;
  }
  return file;
}

void unlock_byte(int file, std::int64_t number) noexcept { (void)set_lock(file, number, F_UNLCK, F_OFD_SETLK); }

}  // namespace plait::store::posix
