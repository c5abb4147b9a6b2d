// Shared memory of a node: without names that remain, without pages that turn out to be missing, and with the same
// error on all processes.
//
// A page of shared memory that the system cannot provide raises SIGBUS at its first access. Therefore all pages are
// reserved when the memory is created: control blocks by their creator, parts of arrays by their owners.
//
// Segments have a name in /dev/shm only until all processes have opened it. Array memory is preferably a memfd, which
// supports large pages and is not limited by /dev/shm; the other processes open it through /proc/PID/fd of the first
// one, and fall back to a name if that fails on any of them.
//
// Errors are reduced to the largest errno of all processes, so that all throw the same error. Example: process 2 gets
// ENOSPC (28), the others 0: all throw ENOSPC and unmap their memory.
//
// Layout of an area with parts of 3, 0 and 1 MiB: a page of 2 MiB for the header, then the parts, rounded up to
// multiples of 2 MiB: offsets 2, 6 and 6 MiB, total 8 MiB.

#include "transport/shared_memory/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "base/files/allot.hpp"
#include "base/text.hpp"

namespace plait::transport::shared_memory {

namespace {

/// Creates a segment with a new name, which it stores in `name`.  reserves_pages: allocates all pages.  Returns an
/// errno, or 0.
int create(std::array<char, 64>& name, std::int64_t bytes, bool reserves_pages) {
  static std::atomic<unsigned> counter{0};
  for (int tries = 0; tries < 100; ++tries) {
    const std::string new_name = base::text("/plait-", ::getpid(), '-', counter++);
    new_name.copy(name.data(), name.size() - 1);
    name[new_name.size()] = '\0';
    const int file = ::shm_open(name.data(), O_RDWR | O_CREAT | O_EXCL, 0600);
    if (file < 0 && errno == EEXIST) continue;
    if (file < 0) return errno;
    // Reserve all pages now: an access to a page that cannot be provided later raises SIGBUS.
    const int code = reserves_pages ? base::allot(file, 0, bytes) : ::ftruncate(file, bytes) == 0 ? 0 : errno;
    ::close(file);
    if (code != 0) ::shm_unlink(name.data());
    return code;
  }
  return EEXIST;
}

/// The name of a segment.  On the process that has created the segment, the destructor removes the name.
class Name {
 public:
  Name() = default;
  ~Name() {
    if (owned_) ::shm_unlink(text());
  }
  Name(const Name&) = delete;
  Name& operator=(const Name&) = delete;
  /// Creates a segment on the first process of the node, and its name on all processes.  Returns an errno, or 0.
  int create_segment(Meeting& meeting, std::int64_t bytes, bool reserves_pages);
  const char* text() const { return text_.data(); }

 private:
  std::array<char, 64> text_{};
  bool owned_ = false;
};

/// Maps a file at a multiple of the large page, so that large pages can be used.
std::byte* map_aligned(int file, std::size_t bytes) {
  constexpr auto kAlign = static_cast<std::size_t>(kAreaPage);
  void* reserved = ::mmap(nullptr, bytes + kAlign, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(reserved);
  const std::size_t padding = (kAlign - reinterpret_cast<std::uintptr_t>(begin) % kAlign) % kAlign;
  void* memory = ::mmap(begin + padding, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
  const int code = errno;
  if (padding > 0) ::munmap(begin, padding);
  if (memory != MAP_FAILED) {
    ::munmap(begin + padding + bytes, kAlign - padding);
    return begin + padding;
  }
  ::munmap(begin + padding, bytes + kAlign - padding);
  errno = code;
  return nullptr;
}

/// Returns true if all processes of a node have opened a file; else closes it on those that have.
bool all_opened(Meeting& meeting, int& file) {
  const bool all = meeting.all_true(file >= 0);
  if (!all && file >= 0) {
    ::close(file);
    file = -1;
  }
  return all;
}

/// Returns what a user can do about a failure of shared memory; `usual` if the code does not say more.
const char* advice(int code, const char* usual) {
  if (code == EMFILE || code == ENFILE) return "allow more open files (ulimit -n), or start fewer ranks on a node";
  return code == EINTR ? "signals come too fast; let a profiler's timer go slower" : usual;
}

/// Copies the value of the node's first process to all.
template <typename Value>
void broadcast_value(Meeting& meeting, Value& value) {
  meeting.broadcast_from_first(std::as_writable_bytes(std::span(&value, 1)));
}

int Name::create_segment(Meeting& meeting, std::int64_t bytes, bool reserves_pages) {
  int code = meeting.node_rank() == 0 ? create(text_, bytes, reserves_pages) : 0;
  owned_ = meeting.node_rank() == 0 && code == 0;
  broadcast_value(meeting, code);
  broadcast_value(meeting, text_);
  return code;
}

/// Creates memory without a name, for which the kernel provides large pages even if /dev/shm has none, and which has no
/// size limit of its own.  The other processes open it through the first one.  Returns -1 on all processes of the node
/// if one of them fails.
int open_large_pages(Meeting& meeting, std::int64_t bytes) {
  std::array<std::int64_t, 2> creator{::getpid(), -1};  // process number and descriptor of the first process
  int file = -1;
  if (meeting.node_rank() == 0) {
    file = ::memfd_create("plait", MFD_CLOEXEC);
    if (file >= 0 && ::ftruncate(file, bytes) != 0) {
      ::close(file);
      file = -1;
    }
    creator[1] = file;
  }
  broadcast_value(meeting, creator);
  if (meeting.node_rank() != 0 && creator[1] >= 0) {
    const std::string name = base::text("/proc/", creator[0], "/fd/", creator[1]);
    file = ::open(name.c_str(), O_RDWR | O_CLOEXEC);
    struct stat status{};
    // In another PID namespace the path may lead to another file, which usually has another size.
    if (file >= 0 && (::fstat(file, &status) != 0 || status.st_size != bytes)) {
      ::close(file);
      file = -1;
    }
  }
  return all_opened(meeting, file) ? file : -1;
}

/// Creates the memory by a name in /dev/shm, which is removed before this function returns.  Returns a descriptor, or
/// -1 and an errno in `code`.
int open_named(Meeting& meeting, std::int64_t bytes, int& code) {
  Name name;
  code = name.create_segment(meeting, bytes, /*reserves_pages=*/false);
  int file = code == 0 ? ::shm_open(name.text(), O_RDWR, 0600) : -1;
  if (code == 0 && file < 0) code = errno;
  const bool all = all_opened(meeting, file);
  if (!all && code == 0) code = EACCES;
  return file;
}

/// Allocates the pages of a part now, because an access to a page that cannot be provided later raises SIGBUS.  Returns
/// an errno, or 0.
int populate(int file, std::byte* memory, std::int64_t offset, std::int64_t bytes) {
  if (bytes == 0) return 0;
  // If the part exceeds the machine's memory, the kernel would kill processes before it reports an error.
  if (bytes / ::sysconf(_SC_PAGESIZE) >= ::sysconf(_SC_PHYS_PAGES)) return ENOMEM;
  ::madvise(memory + offset, static_cast<std::size_t>(bytes), MADV_HUGEPAGE);
#ifdef MADV_POPULATE_WRITE
  if (::madvise(memory + offset, static_cast<std::size_t>(bytes), MADV_POPULATE_WRITE) == 0) return 0;
  if (errno != EINVAL) return errno == EFAULT ? ENOSPC : errno;
#endif
  return base::allot(file, offset, bytes);
}

}  // namespace

Segment::Segment(Meeting& meeting, std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {
  Name name;
  int code = name.create_segment(meeting, bytes, /*reserves_pages=*/true);
  if (code == 0) {
    const int file = ::shm_open(name.text(), O_RDWR, 0600);
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
  std::array<std::int64_t, 1> largest{code};
  try {
    meeting.reduce_max(largest);
  } catch (...) {
    if (data_ != nullptr) ::munmap(data_, bytes_);
    throw;
  }
  if (largest[0] != 0) {
    if (data_ != nullptr) ::munmap(data_, bytes_);
    const auto worst = static_cast<int>(largest[0]);
    base::throw_system_error(worst, "cannot share ", base::bytes_text(bytes),
                             " of memory inside a node: ", std::strerror(worst), "; ",
                             advice(worst, "allow less with memory=, or enlarge /dev/shm"));
  }
}

std::unique_ptr<SharedPart> share(Meeting& meeting, std::int64_t bytes, std::int64_t group) {
  const int rank = meeting.node_rank();
  const int size = meeting.node_size();
  const std::int64_t rounded = (bytes + kAreaPage - 1) / kAreaPage * kAreaPage;
  const std::vector<std::int64_t> parts = meeting.gather(rounded);
  std::int64_t total = kAreaPage;   // the page of the header
  std::int64_t offset = kAreaPage;  // of this process's part
  for (int i = 0; i < size; ++i) {
    if (i < rank) offset += parts[static_cast<std::size_t>(i)];
    total += parts[static_cast<std::size_t>(i)];
  }
  std::int64_t number = new_area_number();
  broadcast_value(meeting, number);
  int code = 0;
  int file = open_large_pages(meeting, total);
  if (file < 0) file = open_named(meeting, total, code);
  std::byte* memory = nullptr;
  if (code == 0) {
    memory = map_aligned(file, static_cast<std::size_t>(total));
    code = memory == nullptr ? errno : populate(file, memory, offset, rounded);
    if (code == 0 && rank == 0) code = base::allot(file, 0, kAreaHeader);
  }
  if (file >= 0) ::close(file);
  // The size is reduced too, so that all nodes report the same text.
  std::array<std::int64_t, 2> worst{code, code == 0 ? 0 : total};
  meeting.reduce_max(worst);
  if (worst[0] != 0) {
    if (memory != nullptr) ::munmap(memory, static_cast<std::size_t>(total));
    const auto cause = static_cast<int>(worst[0]);
    base::throw_system_error(cause, "cannot share arrays of ", base::bytes_text(worst[1]),
                             " inside a node: ", std::strerror(cause), "; ",
                             advice(cause, "free memory, or enlarge /dev/shm"));
  }
  register_area(number, group, memory, total, size);
  meeting.reduce_max(std::span(worst).first(1));  // a barrier: after it all processes have registered the area
  return std::make_unique<SharedPart>(number, memory + offset, bytes);
}

Segment::~Segment() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

}  // namespace plait::transport::shared_memory
