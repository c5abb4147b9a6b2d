// Replaces the global operator new and delete by versions that count bytes and can fail.
#include "allocations.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace allocations {

namespace {

thread_local std::int64_t until_failure = 0;
thread_local bool keeps_failing = false;
thread_local bool has_failed = false;

std::atomic<std::int64_t> until_failure_anywhere{0};
std::atomic<bool> has_failed_anywhere{false};

std::atomic<std::int64_t> live{0};
std::atomic<std::int64_t> peak{0};

#if defined(PLAIT_SANITIZE_ADDRESS) || defined(PLAIT_SANITIZE_THREAD)
constexpr std::size_t kHeader = 0;  // no header, so that the sanitizer detects accesses before a block
#else
constexpr std::size_t kHeader = 2 * sizeof(std::max_align_t);  // contains the size of the block that follows
#endif

void fail_if_requested() {
  // 0 means that no allocation is to fail, 1 that this one fails.
  if (until_failure_anywhere > 0 && until_failure_anywhere.fetch_sub(1) == 1) {
    has_failed_anywhere = true;
    throw std::bad_alloc();
  }
  if (until_failure == 0 || --until_failure > 0) return;
  has_failed = true;
  if (keeps_failing) until_failure = 1;
  throw std::bad_alloc();
}

}  // namespace

void fail_at(std::int64_t number) {
  until_failure = number;
  keeps_failing = false;
  has_failed = false;
}
void fail_from(std::int64_t number) {
  fail_at(number);
  keeps_failing = true;
}
bool failed() {
  until_failure = 0;
  return has_failed;
}

void fail_anywhere_at(std::int64_t number) {
  has_failed_anywhere = false;
  until_failure_anywhere = number;
}
bool failed_anywhere() {
  until_failure_anywhere = 0;
  return has_failed_anywhere;
}

std::int64_t live_bytes() { return live; }
std::int64_t peak_bytes() { return peak; }
void restart_peak() { peak = live.load(); }

namespace {

void* allocate(std::size_t bytes) {
  fail_if_requested();
  auto* block = static_cast<std::byte*>(std::malloc(bytes + kHeader + (bytes == 0 ? 1 : 0)));
  if (block == nullptr) throw std::bad_alloc();
  if (kHeader == 0) return block;
  *reinterpret_cast<std::size_t*>(block) = bytes;
  const std::int64_t now = live += static_cast<std::int64_t>(bytes);
  std::int64_t maximum = peak;
  while (now > maximum && !peak.compare_exchange_weak(maximum, now)) {
  }
  return block + kHeader;
}

void release(void* address) noexcept {
  if (address == nullptr) return;
  auto* block = static_cast<std::byte*>(address) - kHeader;
  if (kHeader != 0) live -= static_cast<std::int64_t>(*reinterpret_cast<std::size_t*>(block));
  std::free(block);
}

void* allocate_or_null(std::size_t bytes) noexcept {
  try {
    return allocate(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void* allocate_aligned(std::size_t bytes, std::align_val_t alignment) {
  fail_if_requested();
  const auto unit = static_cast<std::size_t>(alignment);
  void* const block = std::aligned_alloc(unit, (bytes / unit + 1) * unit);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

}  // namespace

}  // namespace allocations

void* operator new(std::size_t bytes) { return allocations::allocate(bytes); }
void* operator new[](std::size_t bytes) { return allocations::allocate(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocations::allocate_aligned(bytes, alignment);
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocations::allocate_aligned(bytes, alignment);
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocations::allocate_or_null(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return allocations::allocate_or_null(bytes); }
void operator delete(void* address) noexcept { allocations::release(address); }
void operator delete[](void* address) noexcept { allocations::release(address); }
void operator delete(void* address, std::size_t) noexcept { allocations::release(address); }
void operator delete[](void* address, std::size_t) noexcept { allocations::release(address); }
void operator delete(void* address, std::align_val_t) noexcept { std::free(address); }
void operator delete[](void* address, std::align_val_t) noexcept { std::free(address); }
void operator delete(void* address, std::size_t, std::align_val_t) noexcept { std::free(address); }
void operator delete[](void* address, std::size_t, std::align_val_t) noexcept { std::free(address); }
