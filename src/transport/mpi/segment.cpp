#include "transport/mpi/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/text.hpp"
#include "plait/error.hpp"
#include "transport/mpi/check.hpp"

namespace plait::transport::mpi {

namespace {

/// Makes a segment of a new name.  Returns an errno, 0 where it worked.
int create(std::array<char, 64>& name, std::int64_t bytes) {
  static std::atomic<unsigned> counter{0};
  for (int tries = 0; tries < 100; ++tries) {
    const std::string wanted = base::text("/plait-", ::getpid(), '-', counter++);
    wanted.copy(name.data(), name.size() - 1);
    name[wanted.size()] = '\0';
    const int file = ::shm_open(name.data(), O_RDWR | O_CREAT | O_EXCL, 0600);
    if (file < 0 && errno == EEXIST) continue;
    if (file < 0) return errno;
    // Reserved now, because touching a page that cannot be had later is a fatal signal.
    const int code = ::posix_fallocate(file, 0, bytes);
    ::close(file);
    if (code != 0) ::shm_unlink(name.data());
    return code;
  }
  return EEXIST;
}

}  // namespace

Segment::Segment(MPI_Comm node, MPI_Comm everyone, std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {
  int rank = 0;
  check(MPI_Comm_rank(node, &rank), "MPI_Comm_rank");
  std::array<char, 64> name{};
  int code = rank == 0 ? create(name, bytes) : 0;
  const bool created = rank == 0 && code == 0;
  check(MPI_Bcast(&code, 1, MPI_INT, 0, node), "MPI_Bcast");
  check(MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, node), "MPI_Bcast");
  if (code == 0) {
    const int file = ::shm_open(name.data(), O_RDWR, 0600);
    if (file < 0) {
      code = errno;
    } else {
      void* memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
      if (memory == MAP_FAILED) {
        code = errno;
      } else {
        data_ = static_cast<std::byte*>(memory);
      }
      ::close(file);
    }
  }
  int worst = 0;
  check(MPI_Allreduce(&code, &worst, 1, MPI_INT, MPI_MAX, everyone), "MPI_Allreduce");
  if (created) ::shm_unlink(name.data());
  if (worst != 0) {
    if (data_ != nullptr) ::munmap(data_, bytes_);
    throw Error(ErrorKind::kSystem,
                base::text("cannot share ", base::bytes_text(bytes), " of memory inside a node: ", std::strerror(worst),
                           "; allow less with memory=, or enlarge /dev/shm"),
                worst);
  }
}

Segment::~Segment() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

}  // namespace plait::transport::mpi
