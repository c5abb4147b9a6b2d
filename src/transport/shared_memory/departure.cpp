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

constexpr int kMostTries = 100'000;  // with a yield each, far longer than a note takes

}  // namespace

void tell(Departed& departed, std::initializer_list<std::string_view> words) noexcept {
  auto& why = departed.why;
  why.fill('\0');
  std::size_t filled = 0;
  for (const std::string_view part : words) {
    std::size_t length = std::min(part.size(), why.size() - 1 - filled);
    // No character is cut in two: further bytes of one begin with the bits 10.
    while (length < part.size() && length > 0 && (static_cast<unsigned char>(part[length]) & 0xc0U) == 0x80U) --length;
    std::copy_n(part.begin(), length, why.begin() + static_cast<std::ptrdiff_t>(filled));
    filled += length;
    if (length < part.size()) return;
  }
}

void check(const Departed& departed, const Progress& progress) {
  if (departed.calls >= progress.needed()) return;
  base::throw_system_error(EOWNERDEAD, "rank ", departed.worker, ' ', departed.why.data(),
                           "; nothing more can be done together");
}

void check(const Departed& departed, const Progress& progress, Departure& own) {
  if (departed.calls < progress.needed()) own.record(departed);
  check(departed, progress);
}

void check_ended(int worker, const Progress& progress, Departure& own) {
  // It has taken part in no agreement that this worker has not seen the end of.
  Departed departed{worker, progress.ended(), {}};
  tell(departed, {"has ended during a collective call"});
  own.record(departed);
  throw_ended(worker);
}

void Departure::record(const Departed& departed) noexcept {
  // Were the process killed in between, nobody would be known to have left, and its own end would be noticed instead.
  // Another thread that records is one of this process, so that this wait ends; where this thread itself was at it, and
  // a signal's handler has called exit(), it would not, and the process's end has to do.
  std::uint64_t version = version_.load(std::memory_order_acquire);
  for (int tries = 0;
       version % 2 != 0 || !version_.compare_exchange_weak(version, version + 1, std::memory_order_acq_rel);) {
    if (++tries == kMostTries) return;
    ::sched_yield();
    version = version_.load(std::memory_order_acquire);
  }
  if (version != 0) {
    Departed before;
    read(before);
    if (before.calls <= departed.calls) return version_.store(version, std::memory_order_release);
  }
  const auto words = std::bit_cast<Words>(departed);
  // Each releases that the version is odd: who finds a new word finds that too.
  for (std::size_t i = 0; i < kWords; ++i) words_[i].store(words[i], std::memory_order_release);
  version_.store(version + 2, std::memory_order_release);
}

bool Departure::known(Departed& departed) const noexcept {
  const std::uint64_t version = version_.load(std::memory_order_acquire);
  if (version == 0 || version % 2 != 0) return false;
  Departed found;
  read(found);
  if (version_.load(std::memory_order_relaxed) != version) return false;
  departed = found;
  return true;
}

void Departure::read(Departed& departed) const noexcept {
  Words words{};
  for (std::size_t i = 0; i < kWords; ++i) words[i] = words_[i].load(std::memory_order_acquire);
  departed = std::bit_cast<Departed>(words);
}

bool find_fewest(std::span<const Departure> departures, Departed& departed) noexcept {
  bool found = false;
  for (const Departure& one : departures) {
    Departed other;
    if (!one.known(other) || (found && departed.calls <= other.calls)) continue;
    departed = other;
    found = true;
  }
  return found;
}

}  // namespace plait::transport::shared_memory
