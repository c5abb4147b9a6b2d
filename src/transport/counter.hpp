/// A number that all workers can read and change without waiting for each other, such as a shared file position.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace plait::transport {

/// Each call is one atomic operation, which does not depend on what the other workers are doing.
/// threads  Any number at once.
/// errors  kSystem: the transport has failed.
class Counter {
 public:
  virtual ~Counter() = default;
  virtual std::int64_t load() = 0;
  virtual void store(std::int64_t value) = 0;
  /// Adds `by`; returns the previous value.
  virtual std::int64_t fetch_add(std::int64_t by) = 0;
  /// Stores `desired` if the value is `expected`; returns the previous value.
  virtual std::int64_t compare_swap(std::int64_t expected, std::int64_t desired) = 0;
};

/// A counter in memory that all workers map; `owner` keeps that memory alive.  Operations acquire and release: a worker
/// that sees a change of the counter also sees what the other worker wrote before that change.
class MemoryCounter : public Counter {
 public:
  MemoryCounter(std::atomic<std::int64_t>& word, std::shared_ptr<const void> owner)
      : word_(word), owner_(std::move(owner)) {}
  std::int64_t load() override { return word_.load(std::memory_order_acquire); }
  void store(std::int64_t value) override { word_.store(value, std::memory_order_release); }
  std::int64_t fetch_add(std::int64_t by) override { return word_.fetch_add(by, std::memory_order_acq_rel); }
  std::int64_t compare_swap(std::int64_t expected, std::int64_t desired) override {
    word_.compare_exchange_strong(expected, desired, std::memory_order_acq_rel);
    return expected;
  }

 private:
  std::atomic<std::int64_t>& word_;
  std::shared_ptr<const void> owner_;
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

}  // namespace plait::transport
