// Slots: memory files (memfd) in which a writer stores steps, and which readers on the same host map.

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

constexpr std::int64_t kPage = 4096;
constexpr std::int64_t kHugePage = std::int64_t{2} << 20;

std::int64_t round_up(std::int64_t bytes, std::int64_t unit) { return (bytes + unit - 1) / unit * unit; }

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

void SlotMemory::remap(std::int64_t bytes, Access access) {
  const int protection = access == Access::kWrite ? PROT_READ | PROT_WRITE : PROT_READ;
  void* mapped = ::mmap(nullptr, static_cast<std::size_t>(bytes), protection, MAP_SHARED, descriptor_.number(), 0);
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
    // Forbid shrinking: a reader that accessed removed pages would get SIGBUS.
    ::fcntl(descriptor_.number(), F_ADD_SEALS, F_SEAL_SHRINK);
  }
  const std::int64_t rounded = round_up(bytes, bytes < kHugePage ? kPage : kHugePage);
  if (const int code = base::allot(descriptor_.number(), bytes_, rounded - bytes_); code != 0) {
    errno = code;
    fail_memory("get", rounded);
  }
  remap(rounded, Access::kWrite);
  // Store the length last, with release: a reader that sees it maps that many bytes, which must exist.
  std::atomic_ref(head().bytes).store(rounded, std::memory_order_release);
}

std::int64_t SlotMemory::shared_bytes() const { return std::atomic_ref(head().bytes).load(std::memory_order_acquire); }

std::int64_t SlotMemory::step() const {
#if !defined(__SANITIZE_THREAD__)  // which does not support fences
  // The acquire fence keeps the caller's earlier reads of the slot before this load; the load alone would only order
  // later reads.
  std::atomic_thread_fence(std::memory_order_acquire);
#endif
  return std::atomic_ref(head().step).load(std::memory_order_acquire);
}

// This is an exchange and not a store: a release store does not keep later writes to the slot from becoming visible
// before the number, but the acquire side of an exchange does.
void SlotMemory::set_step(std::int64_t step) { std::atomic_ref(head().step).exchange(step, std::memory_order_seq_cst); }

void SlotMemory::map(base::Descriptor descriptor, Access access) {
  descriptor_ = std::move(descriptor);
  access_ = access;
  map_more();
}

void SlotMemory::map_more() {
  struct stat status{};
  if (::fstat(descriptor_.number(), &status) != 0) fail_memory("look at", 0);
  // Check the seal: an access beyond the end of a file that has shrunk would raise SIGBUS.
  const int seals = ::fcntl(descriptor_.number(), F_GET_SEALS);
  if (status.st_size < static_cast<off_t>(sizeof(SlotHead)) || seals < 0 || (seals & F_SEAL_SHRINK) == 0)
    base::throw_system_error(
        EPROTO, "what the writer of a pipe has sent is no memory of a step; use the same Plait at both ends");
  remap(status.st_size, access_);
}

}  // namespace plait::pipe
