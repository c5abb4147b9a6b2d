// Departure records in shared memory, and the decision whether a departure stops a worker.
//
// Problem: a worker may leave between two agreements, or in the middle of one. Workers that still need its contribution
// must fail with an error instead of waiting; the others must continue. A record must be readable at any time, even if
// its writer is killed while it writes.
//
// Idea: all workers make agreements in the same order, so the agreements can be counted. A departed worker has taken
// part in `calls` agreements. A worker fails if it needs more: needed() = ended + 1. Example: worker A has ended 3
// agreements and is in the fourth, so it needs 4. If B left after 4 calls, A continues, because B has contributed to
// the fourth. If B left after 3, A fails.
//
// A Departure is a sequence lock: `version_` is odd while the words change. load() reads version, words, version, and
// returns false if the version is odd or has changed. A writer that is killed leaves an odd version: then the record is
// never valid, and the end of the process is detected instead.

#include "transport/shared_memory/departure.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>

#include "base/errors.hpp"
#include "transport/shared_memory/peers.hpp"

namespace plait::transport::shared_memory {

namespace {

constexpr int kMaxTries = 100'000;  // with a yield each, far longer than writing a record takes

}  // namespace

void set_reason(DepartureRecord& departed, std::initializer_list<std::string_view> parts) noexcept {
  auto& why = departed.why;
  why.fill('\0');
  std::size_t filled = 0;
  for (const std::string_view part : parts) {
    std::size_t length = std::min(part.size(), why.size() - 1 - filled);
    // UTF-8 characters are not split: continuation bytes begin with the bits 10.
    while (length < part.size() && length > 0 && (static_cast<unsigned char>(part[length]) & 0xc0U) == 0x80U) --length;
    std::copy_n(part.begin(), length, why.begin() + static_cast<std::ptrdiff_t>(filled));
    filled += length;
    if (length < part.size()) return;
  }
}

void check(const DepartureRecord& departed, const Progress& progress) {
  if (departed.calls >= progress.needed()) return;
  base::throw_system_error(EOWNERDEAD, "rank ", departed.worker, ' ', departed.why.data(),
                           "; nothing more can be done together");
}

void check(const DepartureRecord& departed, const Progress& progress, Departure& own) {
  if (departed.calls < progress.needed()) own.record(departed);
  check(departed, progress);
}

void check_ended(int worker, const Progress& progress, Departure& own) {
  // Assume that the ended process took part only in the agreements that have ended here.
  DepartureRecord departed{worker, progress.ended(), {}};
  set_reason(departed, {"has ended during a collective call"});
  own.record(departed);
  throw_ended(worker);
}

void Departure::record(const DepartureRecord& departed) noexcept {
  // If the process is killed here, the record stays invalid, and the end of the process is detected instead. Another
  // writer is a thread of the same process, so this wait is bounded. The exception is a signal handler that interrupts
  // this function on the same thread and calls exit(): after kMaxTries attempts the handler's call gives up, and the
  // end of the process is detected.
  std::uint64_t version = version_.load(std::memory_order_acquire);
  for (int tries = 0;
       version % 2 != 0 || !version_.compare_exchange_weak(version, version + 1, std::memory_order_acq_rel);) {
    if (++tries == kMaxTries) return;
    ::sched_yield();
    version = version_.load(std::memory_order_acquire);
  }
  if (version != 0) {
    DepartureRecord before;
    read(before);
    if (before.calls <= departed.calls) return version_.store(version, std::memory_order_release);
  }
  const auto words = std::bit_cast<Words>(departed);
  // Each store releases the odd version: a reader that sees a new word also sees that the version is odd.
  for (std::size_t i = 0; i < kWords; ++i) words_[i].store(words[i], std::memory_order_release);
  version_.store(version + 2, std::memory_order_release);
}

bool Departure::load(DepartureRecord& departed) const noexcept {
  const std::uint64_t version = version_.load(std::memory_order_acquire);
  if (version == 0 || version % 2 != 0) return false;
  DepartureRecord found;
  read(found);
  if (version_.load(std::memory_order_relaxed) != version) return false;
  departed = found;
  return true;
}

void Departure::read(DepartureRecord& departed) const noexcept {
  Words words{};
  for (std::size_t i = 0; i < kWords; ++i) words[i] = words_[i].load(std::memory_order_acquire);
  departed = std::bit_cast<DepartureRecord>(words);
}

bool find_fewest(std::span<const Departure> departures, DepartureRecord& departed) noexcept {
  bool found = false;
  for (const Departure& departure : departures) {
    DepartureRecord other;
    if (!departure.load(other) || (found && departed.calls <= other.calls)) continue;
    departed = other;
    found = true;
  }
  return found;
}

}  // namespace plait::transport::shared_memory
