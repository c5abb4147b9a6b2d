/// Who takes part in nothing any more: a note in memory that the workers of a node share.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <string_view>

namespace plait::transport::node {

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

/// The first departure of a node, or of one that a member of the node has heard of.  All zero is its initial state.
class Departure {
 public:
  /// Only the first one stays.
  void record(const Departed& departed);
  /// Whether somebody has left, and who.
  bool known(Departed& departed) const;
  /// errors  kSystem (EOWNERDEAD): somebody has left who would have to come for this worker to get on.
  void check(const Progress& progress) const;

 private:
  enum State : std::uint32_t { kNobody, kBeingWritten, kWritten };
  std::atomic<std::uint32_t> state_{kNobody};
  Departed departed_;
};

}  // namespace plait::transport::node
