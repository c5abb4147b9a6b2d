#include "transport/mpi/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "plait/error.hpp"
#include "transport/mpi/check.hpp"

namespace plait::transport::mpi {

namespace {

/// Makes a segment of a new name.  Returns an errno, 0 where it worked.
int create(std::array<char, 64>& name, std::int64_t bytes, bool reserve) {
  static std::atomic<unsigned> counter{0};
  for (int tries = 0; tries < 100; ++tries) {
    const std::string wanted = base::text("/plait-", ::getpid(), '-', counter++);
    wanted.copy(name.data(), name.size() - 1);
    name[wanted.size()] = '\0';
    const int file = ::shm_open(name.data(), O_RDWR | O_CREAT | O_EXCL, 0600);
    if (file < 0 && errno == EEXIST) continue;
    if (file < 0) return errno;
    // Reserved now, because touching a page that cannot be had later is a fatal signal.
    const int code = reserve ? ::posix_fallocate(file, 0, bytes) : ::ftruncate(file, bytes) == 0 ? 0 : errno;
    ::close(file);
    if (code != 0) ::shm_unlink(name.data());
    return code;
  }
  return EEXIST;
}

/// Maps a file at a multiple of the large page, so that large pages can be used.
std::byte* map_aligned(int file, std::size_t bytes) {
  constexpr auto kAlign = static_cast<std::size_t>(kAreaPage);
  void* room = ::mmap(nullptr, bytes + kAlign, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(room);
  const std::size_t front = (kAlign - reinterpret_cast<std::uintptr_t>(begin) % kAlign) % kAlign;
  void* memory = ::mmap(begin + front, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
  const int code = errno;
  if (front > 0) ::munmap(begin, front);
  if (memory != MAP_FAILED) {
    ::munmap(begin + front + bytes, kAlign - front);
    return begin + front;
  }
  ::munmap(begin + front, bytes + kAlign - front);
  errno = code;
  return nullptr;
}

/// Whether a file could be opened on every process of a node; where not, it is closed on those that could.
bool all_opened(MPI_Comm node, int& file) {
  int opened = file >= 0 ? 1 : 0;
  int all = 0;
  check(MPI_Allreduce(&opened, &all, 1, MPI_INT, MPI_MIN, node), "MPI_Allreduce");
  if (all == 0 && file >= 0) {
    ::close(file);
    file = -1;
  }
  return all != 0;
}

/// Memory without a name, which the kernel gives large pages where /dev/shm has none, and no limit of its own.  The
/// others find it through the first process.  -1 on all of the node where that cannot be.
int open_large_pages(MPI_Comm node, int rank, std::int64_t bytes) {
  std::array<std::int64_t, 2> first{::getpid(), -1};
  int file = -1;
  if (rank == 0) {
    file = ::memfd_create("plait", MFD_CLOEXEC);
    if (file >= 0 && ::ftruncate(file, bytes) != 0) {
      ::close(file);
      file = -1;
    }
    first[1] = file;
  }
  check(MPI_Bcast(first.data(), 2, MPI_INT64_T, 0, node), "MPI_Bcast");
  if (rank != 0 && first[1] >= 0) {
    const std::string name = base::text("/proc/", first[0], "/fd/", first[1]);
    file = ::open(name.c_str(), O_RDWR | O_CLOEXEC);
    struct stat found{};
    // Another file of that number would be one of a process in another space of numbers.
    if (file >= 0 && (::fstat(file, &found) != 0 || found.st_size != bytes)) {
      ::close(file);
      file = -1;
    }
  }
  return all_opened(node, file) ? file : -1;
}

/// The same by a name in /dev/shm, which is gone when this returns.
int open_named(MPI_Comm node, int rank, std::int64_t bytes, int& code) {
  std::array<char, 64> name{};
  code = rank == 0 ? create(name, bytes, false) : 0;
  const bool created = rank == 0 && code == 0;
  check(MPI_Bcast(&code, 1, MPI_INT, 0, node), "MPI_Bcast");
  check(MPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_CHAR, 0, node), "MPI_Bcast");
  int file = code == 0 ? ::shm_open(name.data(), O_RDWR, 0600) : -1;
  if (code == 0 && file < 0) code = errno;
  const bool all = all_opened(node, file);
  if (!all && code == 0) code = EACCES;
  if (created) ::shm_unlink(name.data());
  return file;
}

/// Gives a part its pages now, because touching one that cannot be had later is a fatal signal.  Returns an errno.
int populate(int file, std::byte* memory, std::int64_t offset, std::int64_t bytes) {
  if (bytes == 0) return 0;
  // More than the machine has would be found out by the kernel ending processes.
  if (bytes / ::sysconf(_SC_PAGESIZE) >= ::sysconf(_SC_PHYS_PAGES)) return ENOMEM;
  ::madvise(memory + offset, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
#ifdef MADV_POPULATE_WRITE
  if (::madvise(memory + offset, static_cast<std::size_t>(bytes), MADV_POPULATE_WRITE) == 0) return 0;
  if (errno != EINVAL) return errno == EFAULT ? ENOSPC : errno;
#endif
  return ::posix_fallocate(file, offset, bytes);
}

}  // namespace

Segment::Segment(MPI_Comm node, MPI_Comm everyone, std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {
  int rank = 0;
  check(MPI_Comm_rank(node, &rank), "MPI_Comm_rank");
  std::array<char, 64> name{};
  int code = rank == 0 ? create(name, bytes, true) : 0;
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

std::unique_ptr<SharedPart> share(MPI_Comm node, MPI_Comm everyone, std::int64_t bytes, std::int64_t group) {
  int rank = 0;
  int size = 1;
  check(MPI_Comm_rank(node, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(node, &size), "MPI_Comm_size");
  const std::int64_t mine = (bytes + kAreaPage - 1) / kAreaPage * kAreaPage;
  std::vector<std::int64_t> parts(static_cast<std::size_t>(size));
  check(MPI_Allgather(&mine, 1, MPI_INT64_T, parts.data(), 1, MPI_INT64_T, node), "MPI_Allgather");
  std::int64_t total = kAreaPage;  // the header's page
  std::int64_t before = kAreaPage;
  for (int i = 0; i < size; ++i) {
    if (i < rank) before += parts[static_cast<std::size_t>(i)];
    total += parts[static_cast<std::size_t>(i)];
  }
  std::int64_t number = new_area_number();
  check(MPI_Bcast(&number, 1, MPI_INT64_T, 0, node), "MPI_Bcast");
  int code = 0;
  int file = open_large_pages(node, rank, total);
  if (file < 0) file = open_named(node, rank, total, code);
  std::byte* memory = nullptr;
  if (code == 0) {
    memory = map_aligned(file, static_cast<std::size_t>(total));
    code = memory == nullptr ? errno : populate(file, memory, before, mine);
    if (code == 0 && rank == 0) code = ::posix_fallocate(file, 0, kAreaHeader);
  }
  if (file >= 0) ::close(file);
  // The size as well, so that all nodes say the same.
  std::array<std::int64_t, 2> worst{code, code == 0 ? 0 : total};
  check(MPI_Allreduce(MPI_IN_PLACE, worst.data(), 2, MPI_INT64_T, MPI_MAX, everyone), "MPI_Allreduce");
  if (worst[0] != 0) {
    if (memory != nullptr) ::munmap(memory, static_cast<std::size_t>(total));
    const auto cause = static_cast<int>(worst[0]);
    throw Error(ErrorKind::kSystem,
                base::text("cannot share arrays of ", base::bytes_text(worst[1]),
                           " inside a node: ", std::strerror(cause), "; free memory, or enlarge /dev/shm"),
                cause);
  }
  register_area(number, group, memory, total, size);
  check(MPI_Barrier(node), "MPI_Barrier");
  return std::make_unique<SharedPart>(number, memory + before, bytes);
}

Segment::~Segment() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

}  // namespace plait::transport::mpi
