// Reading past the page cache, and deciding if that is faster.
//
// Direct requests must begin and end at multiples of a unit. A read is therefore extended to whole units and goes into
// an aligned staging buffer, from which the requested bytes are copied.
// Example: a unit of 4,096 bytes, and a read of 300,000 bytes at offset 1,000,000. The request begins at 999,424, which
// is 576 bytes before the requested bytes, and has 74 units or 303,104 bytes.
//
// cachestat() counts the cached pages of a range without reading it. is_cold() first checks only the first 64 KiB of a
// range, because most files are cached as a whole or not at all. A file is cold if more than 8 of 16 samples at equal
// distances have no cached page.

#include "store/posix/direct_reads.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <optional>
#include <string_view>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "base/memory/recycled.hpp"
#include "base/text.hpp"

namespace plait::store::posix {

namespace {

/// Required ratio of the costs. Bytes that are read through the cache are cached the next time, so that bypassing the
/// cache must be clearly faster to be worth it. A file that does not fit in memory does not stay cached anyway.
constexpr double kMinGain = 1.25;
constexpr double kMinGainOfLarge = 0.95;
/// Alignment that suits the sectors of all disks.
constexpr std::int64_t kUnit = 4096;
/// If these first bytes are cached, the rest usually is: most files are cached completely or not at all.
constexpr std::int64_t kHeadBytes = std::int64_t{64} << 10;

std::int64_t page_bytes() {
  static const std::int64_t bytes = ::sysconf(_SC_PAGESIZE);
  return bytes;
}

/// Returns true if a file is in an overlay file system. The file system below it caches the pages, so that cachestat()
/// never finds cached pages of the file.
bool is_cached_below(int file) {
  struct statfs info{};
  return ::fstatfs(file, &info) == 0 && static_cast<std::uint32_t>(info.f_type) == OVERLAYFS_SUPER_MAGIC;
}

/// Returns the required alignment of direct requests. Returns nothing if the file system does not state it, because it
/// does not support direct requests or passes them through the cache, or if the state of the cache cannot be queried.
std::optional<std::int64_t> query_unit(int file) {
#if defined(STATX_DIOALIGN)
  if (is_cached_below(file)) return std::nullopt;
  struct statx status{};
  if (::statx(file, "", AT_EMPTY_PATH, STATX_DIOALIGN, &status) == 0 && (status.stx_mask & STATX_DIOALIGN) != 0 &&
      status.stx_dio_offset_align != 0)
    return status.stx_dio_offset_align;
#else
  static_cast<void>(file);
#endif
  return std::nullopt;
}

/// The numbers of pages that cachestat() reports, in the kernel's layout.
struct CachedPages {
  std::uint64_t cached = 0;
  std::uint64_t changed = 0;
  std::uint64_t being_written = 0;
  std::uint64_t evicted = 0;
  std::uint64_t recently_evicted = 0;
};

std::optional<CachedPages> query_page_cache(int file, std::int64_t offset, std::int64_t bytes) {
#if defined(SYS_cachestat)
  constexpr long kCall = SYS_cachestat;
#else
  constexpr long kCall = 451;  // older headers lack it; the number is the same on all processors except Alpha
#endif
  const std::array<std::uint64_t, 2> range{static_cast<std::uint64_t>(offset), static_cast<std::uint64_t>(bytes)};
  CachedPages found;
  if (::syscall(kCall, file, range.data(), &found, 0U) != 0) return std::nullopt;
  return found;
}

std::uint64_t count_pages(std::int64_t bytes) { return static_cast<std::uint64_t>(bytes / page_bytes()); }

std::int64_t memory_of_machine() { return std::int64_t{::sysconf(_SC_PHYS_PAGES)} * page_bytes(); }

}  // namespace

DirectIo direct_io_setting() {
  const char* const setting = std::getenv("PLAIT_DIRECT_IO");
  const std::string_view word = setting == nullptr ? "" : setting;
  if (word.empty() || word == "auto") return DirectIo::kAutomatic;
  if (word == "never") return DirectIo::kNever;
  if (word == "always") return DirectIo::kAlways;
  base::throw_argument_error("PLAIT_DIRECT_IO=", word, " is not known; use auto, never or always, or unset it");
}

bool DirectReads::open() {
  const auto reported = query_unit(file_.number());
  if (!reported && setting_ != DirectIo::kAlways) return false;
  struct stat status{};
  if (::fstat(file_.number(), &status) != 0) return false;
  unit_ = std::max(reported.value_or(kUnit), kUnit);
  if (kMinBytes % unit_ != 0) return false;
  // Reopen the open file itself rather than its name, which may belong to another file by now.
  const std::string name = base::text("/proc/self/fd/", file_.number());
  direct_ = Descriptor(::open(name.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC));
  if (direct_.number() < 0) return false;
  outgrows_memory_ = status.st_size > memory_of_machine() / 2;
  choice_ = &ReadChoice::for_device(status.st_dev);
  return true;
}

bool DirectReads::is_cold(std::int64_t file_bytes) const {
  constexpr std::int64_t kSamples = 16;
  if (file_bytes < kSamples * kMinBytes || !may_benefit(file_bytes) || !query_unit(file_.number())) return false;
  std::int64_t cold_samples = 0;
  for (std::int64_t sample = 0; sample < kSamples; ++sample) {
    const auto pages = query_page_cache(file_.number(), file_bytes / kSamples * sample, kHeadBytes);
    if (!pages) return false;
    cold_samples += pages->cached == 0 ? 1 : 0;
  }
  return cold_samples > kSamples / 2;
}

bool DirectReads::is_cold(std::int64_t offset, std::int64_t bytes) {
  const auto query = [&](std::int64_t length) { return query_page_cache(file_.number(), offset, length); };
  if (!may_be_cold_)
    if (const auto lead = query(kHeadBytes); lead && lead->cached >= count_pages(kHeadBytes)) return false;
  const auto found = query(bytes);
  if (!found) {
    if (setting_ != DirectIo::kAlways) is_able_ = false;
    return setting_ == DirectIo::kAlways;
  }
  const std::uint64_t pages = count_pages(bytes);
  may_be_cold_ = found->cached < pages;
  return found->cached < pages / 2 && found->changed + found->being_written == 0;
}

bool DirectReads::mark_first_read(std::int64_t offset, std::int64_t bytes) {
  const auto begin = static_cast<std::size_t>(base::ceil_divide(offset, kMinBytes));  // blocks, see is_block_read_
  const auto end = static_cast<std::size_t>(base::ceil_divide(offset + bytes, kMinBytes));
  const std::lock_guard lock(mutex_);
  if (is_block_read_.size() < end) is_block_read_.resize(end);
  const auto first = is_block_read_.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = is_block_read_.begin() + static_cast<std::ptrdiff_t>(end);
  const bool is_first = std::find(first, last, true) == last;
  std::fill(first, last, true);
  return is_first;
}

bool DirectReads::should_bypass(std::int64_t offset, std::int64_t bytes) {
  std::call_once(opened_, [this] {
    if (!open()) is_able_ = false;
  });
  if (!is_able_) return false;
  if (setting_ == DirectIo::kAlways) return true;
  ReadChoice& choice = *choice_.load();
  if (outgrows_memory_) return choice.should_bypass(kMinGainOfLarge);
  // Read bytes through the cache the second time, so that they are cached if they are read again and again.
  return mark_first_read(offset, bytes) && choice.should_bypass(kMinGain);
}

void DirectReads::learn(bool is_bypassing, const ReadChoice::Cost& cost, std::int64_t bytes) {
  if (is_able_) choice_.load()->learn(is_bypassing, cost, bytes);
}

std::int64_t DirectReads::read_into(std::byte* staging, std::int64_t offset, std::int64_t bytes,
                                    RecordedFile& recorded_file) {
  while (true) {
    const ssize_t count = record_call(recorded_file, {PLAIT_EVENT_READ, offset, bytes}, [&] {
      return ::pread(direct_.number(), staging, static_cast<std::size_t>(bytes), offset);
    });
    if (count >= 0) return count;
    if (errno == EINTR) continue;
    is_able_ = false;
    return 0;
  }
}

std::int64_t DirectReads::read(std::int64_t offset, std::int64_t bytes, RecordedFile& recorded_file,
                               base::FunctionRef<void(std::int64_t, const std::byte*, std::int64_t)> take) {
  std::int64_t done = 0;
  try {
    const base::RecycledBlock staging(kStageBytes);
    while (done < bytes) {
      const std::int64_t lead = (offset + done) % unit_;  // bytes of the first unit before the requested ones
      const std::int64_t whole_units = base::ceil_divide(lead + bytes - done, unit_) * unit_;
      const std::int64_t count =
          read_into(staging.data(), offset + done - lead, std::min(whole_units, kStageBytes), recorded_file) - lead;
      if (count <= 0) return done;
      const std::int64_t piece_bytes = std::min(count, bytes - done);
      take(done, staging.data() + lead, piece_bytes);
      done += piece_bytes;
    }
  } catch (const std::bad_alloc&) {
    is_able_ = false;
  }
  return done;
}

std::string DirectReads::description() const {
  const ReadChoice* const choice = choice_.load();
  if (choice == nullptr) return {};
  const ReadChoice::Rates rates = choice->rates();
  const auto rate_text = [](const std::optional<double>& rate) {
    return rate ? base::text(base::bytes_text(static_cast<std::int64_t>(*rate)), "/s") : std::string("not tried");
  };
  return base::text("large reads of what is not cached: past the page cache ", rate_text(rates.bypassing),
                    ", through it ", rate_text(rates.through_cache));
}

}  // namespace plait::store::posix
