#include "pipe/slot_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/errors.hpp"
#include "base/files/allot.hpp"
#include "base/text.hpp"

namespace plait::pipe {

namespace {

constexpr std::int64_t kPage = std::int64_t{2} << 20;  // a huge page

[[noreturn]] void fail_memory(const char* what, std::int64_t bytes) {
  const int code = errno;
  base::throw_system_error(code, "cannot ", what, ' ', base::bytes_text(bytes),
                           " of memory for a step of a pipe: ", std::strerror(code),
                           "; make its queue shorter, or its steps smaller");
}

}  // namespace

SlotMemory::~SlotMemory() {
  if (data_ != nullptr) ::munmap(data_, static_cast<std::size_t>(bytes_));
}

void SlotMemory::map_again(std::int64_t bytes, Access access) {
  const int allowed = access == Access::kWrite ? PROT_READ | PROT_WRITE : PROT_READ;
  void* mapped = ::mmap(nullptr, static_cast<std::size_t>(bytes), allowed, MAP_SHARED, descriptor_.number(), 0);
  if (mapped == MAP_FAILED) fail_memory("map", bytes);
  if (data_ != nullptr) ::munmap(data_, static_cast<std::size_t>(bytes_));
  data_ = static_cast<std::byte*>(mapped);
  bytes_ = bytes;
  ::madvise(data_, static_cast<std::size_t>(bytes_), MADV_HUGEPAGE);
}

void SlotMemory::grow(std::int64_t bytes) {
  if (bytes <= bytes_) return;
  if (descriptor_.number() < 0) {
    descriptor_ = base::Descriptor(::memfd_create("plait-pipe", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (descriptor_.number() < 0) fail_memory("make", bytes);
    // The seal ensures that mapped memory stays valid for readers.
    ::fcntl(descriptor_.number(), F_ADD_SEALS, F_SEAL_SHRINK);
  }
  const std::int64_t longer = bytes < kPage ? (bytes + 4095) / 4096 * 4096 : (bytes + kPage - 1) / kPage * kPage;
  if (const int code = base::allot(descriptor_.number(), bytes_, longer - bytes_); code != 0) {
    errno = code;
    fail_memory("get", longer);
  }
  map_again(longer, Access::kWrite);
  // The length is stored last, because a reader that sees it maps all of it.
  std::atomic_ref(head().bytes).store(longer, std::memory_order_release);
}

std::int64_t SlotMemory::whole() const { return std::atomic_ref(head().bytes).load(std::memory_order_acquire); }

std::int64_t SlotMemory::step() const {
#if !defined(__SANITIZE_THREAD__)  // which does not support fences
  // Orders the reads of the caller before this one.
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
  return std::atomic_ref(head().step).load(std::memory_order_acquire);
}

// An exchange is used because it also acquires: no later write into the slot becomes visible before the number.  After
// a plain store it could.
void SlotMemory::set_step(std::int64_t step) { std::atomic_ref(head().step).exchange(step, std::memory_order_seq_cst); }

void SlotMemory::map(base::Descriptor descriptor, Access access) {
  descriptor_ = std::move(descriptor);
  access_ = access;
  map_more();
}

void SlotMemory::map_more() {
  struct stat found{};
  if (::fstat(descriptor_.number(), &found) != 0) fail_memory("look at", 0);
  // Access beyond the end of a file that has shrunk would raise SIGBUS.
  const int seals = ::fcntl(descriptor_.number(), F_GET_SEALS);
  if (found.st_size < static_cast<off_t>(sizeof(SlotHead)) || seals < 0 || (seals & F_SEAL_SHRINK) == 0)
    base::throw_system_error(
        EPROTO, "what the writer of a pipe has sent is no memory of a step; use the same Plait at both ends");
  map_again(found.st_size, access_);
}

}  // namespace plait::pipe
