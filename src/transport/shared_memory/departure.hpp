/// Departures: records of workers that take part in no further agreements, in memory that the workers of a node share.
///
/// A worker departs if its process exits, if it frees the communicator, if its wait was interrupted, or if it cannot
/// continue without a worker that has departed.  An agreement is a collective call of all workers (transport.hpp).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <span>
#include <string_view>

namespace plait::transport::shared_memory {

/// The departure of a worker.
struct DepartureRecord {
  std::int64_t worker = -1;
  std::int64_t calls = 0;       ///< number of agreements of all workers in which it took part
  std::array<char, 232> why{};  ///< what happened to the worker; messages put "rank N " before it
};

/// Sets `why` to the concatenation of these texts, truncated to the capacity.  Allocates no memory.
void set_reason(DepartureRecord& departed, std::initializer_list<std::string_view> parts) noexcept;

/// Counts the agreements that a worker has made; all workers make them in the same order.
/// threads  any may read; one at a time takes part in agreements
class Progress {
 public:
  void begin() noexcept { ++events_; }
  void end() noexcept { ++events_; }
  /// Replaces end() for an agreement that has failed: other workers must not rely on this worker's part.
  void fail() noexcept { --events_; }
  /// Returns the number of agreements in which the worker has taken part, including the current one.
  std::int64_t calls() const noexcept { return (events_ + 1) / 2; }
  /// Returns the number of agreements that have ended.
  std::int64_t ended() const noexcept { return events_ / 2; }
  /// Returns the number of agreements in which the others must take part so that this worker can continue: including
  /// the current one, or the next one if it is in none.
  std::int64_t needed() const noexcept { return events_ / 2 + 1; }

 private:
  std::atomic<std::int64_t> events_{0};  // beginnings and ends of successful agreements
};

/// Marks an agreement as under way while this object exists.
class AgreementScope {
 public:
  explicit AgreementScope(Progress& progress) : progress_(progress) { progress_.begin(); }
  ~AgreementScope() { std::uncaught_exceptions() > exceptions_ ? progress_.fail() : progress_.end(); }
  AgreementScope(const AgreementScope&) = delete;
  AgreementScope& operator=(const AgreementScope&) = delete;

 private:
  Progress& progress_;
  int exceptions_ = std::uncaught_exceptions();
};

/// errors  kSystem (EOWNERDEAD): this worker cannot continue without the departed one.
void check(const DepartureRecord& departed, const Progress& progress);

/// The departure that one process reports: its own departure, or one of which it has been notified.  The initial state
/// is all zero: no departure.
/// threads  Threads of one process record; any thread of any process reads.
class alignas(64) Departure {
 public:
  /// Records a departure unless one with as few or fewer calls is recorded: workers that can continue without the
  /// worker with the fewest calls can continue without the others too.  Allocates no memory.
  void record(const DepartureRecord& departed) noexcept;
  /// Returns true, and sets `departed`, if a departure is recorded.  May return false while one is being written, so
  /// callers repeat the call.
  bool load(DepartureRecord& departed) const noexcept;

 private:
  // Stored as atomic words, so that reading them while they change is defined, and the change is detected.
  static constexpr std::size_t kWords = sizeof(DepartureRecord) / sizeof(std::uint64_t);
  using Words = std::array<std::uint64_t, kWords>;
  static_assert(sizeof(Words) == sizeof(DepartureRecord));
  void read(DepartureRecord& departed) const noexcept;

  std::atomic<std::uint64_t> version_{0};  // odd while the words are being written; 0 if there is no departure
  std::array<std::atomic<std::uint64_t>, kWords> words_{};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// Like check(), but also records the departure in `own`, this worker's slot: this worker usually leaves because of the
/// error, and other workers should report the worker that was the first to depart.
void check(const DepartureRecord& departed, const Progress& progress, Departure& own);

/// For a worker whose process has ended without a departure record: records its departure in `own`, this worker's slot.
/// errors  kSystem (EOWNERDEAD), with the text of throw_ended().
[[noreturn]] void check_ended(int worker, const Progress& progress, Departure& own);

/// Sets `departed` to the departure with the fewest calls.  Returns false if there is none.
bool find_fewest(std::span<const Departure> departures, DepartureRecord& departed) noexcept;

}  // namespace plait::transport::shared_memory
