/// Who takes part in nothing any more: a note in memory that the workers of a node share.
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

/// What is known of a worker that has left.
struct Departed {
  std::int64_t worker = -1;
  std::int64_t calls = 0;       ///< agreements of all workers that it took part in
  std::array<char, 232> why{};  ///< what became of it, in words that follow "rank N"
};

/// Says why, in these words behind each other, as many as there is room for.  Needs no memory.
void tell(Departed& departed, std::initializer_list<std::string_view> words) noexcept;

/// How far a worker has come in the agreements of all workers, which all make in one order.
/// threads  Any may look; one at a time takes part in agreements.
class Progress {
 public:
  void begin() noexcept { ++steps_; }
  void end() noexcept { ++steps_; }
  /// Instead of end(), where it has failed: nobody is to count on this worker's part.
  void fail() noexcept { --steps_; }
  /// Agreements that it has taken part in, with the one that it is in.
  std::int64_t calls() const noexcept { return (steps_ + 1) / 2; }
  /// Those among them that have come to their end.
  std::int64_t ended() const noexcept { return steps_ / 2; }
  /// Of how many the others must be part for this one to get on: with the next one where it is in none.
  std::int64_t needed() const noexcept { return steps_ / 2 + 1; }

 private:
  std::atomic<std::int64_t> steps_{0};  // beginnings and ends of those that went well
};

/// Marks an agreement of all workers while it goes on.
class Inside {
 public:
  explicit Inside(Progress& progress) : progress_(progress) { progress_.begin(); }
  ~Inside() { std::uncaught_exceptions() > exceptions_ ? progress_.fail() : progress_.end(); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  Progress& progress_;
  int exceptions_ = std::uncaught_exceptions();
};

/// errors  kSystem (EOWNERDEAD): who has left would have to come for this worker to get on.
void check(const Departed& departed, const Progress& progress);

/// The departure that one process tells of: its own, or one that it has heard of.  All zero is its initial state.
/// threads  Those of one process record; any, of any process, look.
class alignas(64) Departure {
 public:
  /// The one with the fewest calls stays, for who can do without that worker can do without the others.  Of
  /// equals the first one stays.  Needs no memory.
  void record(const Departed& departed) noexcept;
  /// Whether somebody has left, and who.  Not while it is being written: ask again.
  bool known(Departed& departed) const noexcept;

 private:
  // By words, so that whoever looks while they change does so by the rules, and finds that they have.
  static constexpr std::size_t kWords = sizeof(Departed) / sizeof(std::uint64_t);
  using Words = std::array<std::uint64_t, kWords>;
  static_assert(sizeof(Words) == sizeof(Departed));
  void read(Departed& departed) const noexcept;

  std::atomic<std::uint64_t> version_{0};  // odd while it is being written; 0: nobody
  std::array<std::atomic<std::uint64_t>, kWords> words_{};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// The same, and `own`, the note of this worker, tells of who has left from now on: this worker leaves because of it,
/// as a rule, and whoever hears of that is to be told who was the first.
void check(const Departed& departed, const Progress& progress, Departure& own);

/// For a worker whose process has ended without a note: this worker leaves because of it, and `own` tells of it from
/// now on.
/// errors  kSystem (EOWNERDEAD), in the words of throw_ended().
[[noreturn]] void check_ended(int worker, const Progress& progress, Departure& own);

/// The one with the fewest calls of those that these tell of; whether there is any.
bool find_fewest(std::span<const Departure> departures, Departed& departed) noexcept;

}  // namespace plait::transport::shared_memory
