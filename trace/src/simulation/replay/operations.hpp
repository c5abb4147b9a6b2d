/// Requests to the device that are in progress, and the processes that wait for them.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "simulation/devices/device.hpp"

namespace plait::simulation {

/// A handle of an operation. It stays a valid value after the operation has ended.
struct Operation {
  std::uint32_t index = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t generation = 0;
  bool operator==(const Operation&) const = default;
};

/// The receiver of ended operations.
class OperationHost {
 public:
  virtual ~OperationHost() = default;
  virtual void operation_ended(const DeviceRequest& request) = 0;
  /// An operation that `token` waits for has ended.
  virtual void wake(std::uint64_t token) = 0;
};

/// An operation is created, ordered after other operations, and released. It begins when it is released and all
/// earlier operations have ended.
///
/// Example: create W (a write of a dirty block) and release it; create R (a read into the same slot), order(R, W),
/// release(R). R has two gates, one for its release and one for W. When W ends, the second gate opens and R is
/// submitted to the device.
/// cost  O(1) each.
/// memory  about 60 bytes for each operation in progress.
class Operations final : public Completion {
 public:
  explicit Operations(OperationHost& host) : host_(host) {}
  void set_device(Device& device) { device_ = &device; }

  bool running(Operation operation) const noexcept {
    return operation.index < all_.size() && all_[operation.index].generation == operation.generation;
  }
  std::int64_t running() const noexcept { return running_; }
  /// True if a running operation reads.
  bool reads(Operation operation) const noexcept { return !all_[operation.index].request.write; }

  Operation create(const DeviceRequest& request) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(all_.size()));
      all_.emplace_back();
    }
    const std::uint32_t index = free_.back();
    free_.pop_back();
    State& state = all_[index];
    state.request = request;
    state.request.tag = std::uint64_t{index} + 1;
    state.gates = 1;  // one gate until it is released
    state.waiting = kNone;
    ++running_;
    return {index, state.generation};
  }

  /// Orders `later`, which is not released yet, after `earlier`.
  void order(Operation later, Operation earlier) {
    if (!running(earlier) || later == earlier) return;
    ++all_[later.index].gates;
    link(earlier.index, later.index | kIsOperation);
  }

  /// Sets the extent of an operation that is not released yet.
  void set_extent(Operation operation, std::int64_t address, std::int64_t length) {
    all_[operation.index].request.address = address;
    all_[operation.index].request.length = length;
  }

  void release(Operation operation) { pass_gate(operation.index); }

  /// Calls OperationHost::wake() when the operation ends. Returns false if it has ended already.
  bool wait(Operation operation, std::uint64_t token) {
    if (!running(operation)) return false;
    link(operation.index, token);
    return true;
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint64_t kIsOperation = std::uint64_t{1} << 63;

  struct State {
    DeviceRequest request;
    std::uint32_t generation = 1;
    std::uint32_t gates = 0;
    std::uint32_t waiting = kNone;  // last waiter, an index into links_
  };
  struct Link {
    std::uint64_t token = 0;  // token for wake(), or kIsOperation with the index of an operation
    std::uint32_t next = kNone;
  };

  void link(std::uint32_t index, std::uint64_t token) {
    if (free_links_ == kNone) {
      free_links_ = static_cast<std::uint32_t>(links_.size());
      links_.emplace_back();
    }
    const std::uint32_t index_of_link = free_links_;
    free_links_ = links_[index_of_link].next;
    links_[index_of_link] = {token, all_[index].waiting};
    all_[index].waiting = index_of_link;
  }

  void pass_gate(std::uint32_t index) {
    if (--all_[index].gates == 0) device_->submit(all_[index].request);
  }

  void done(std::uint64_t tag) override {
    const auto index = static_cast<std::uint32_t>(tag - 1);
    State& state = all_[index];
    const DeviceRequest request = state.request;
    ++state.generation;
    --running_;
    // The list has the newest waiter first. Reversing it wakes the waiters in the order in which they began to wait.
    std::uint32_t first = kNone;
    for (std::uint32_t at = state.waiting; at != kNone;) {
      const std::uint32_t next = links_[at].next;
      links_[at].next = first;
      first = at;
      at = next;
    }
    free_.push_back(index);
    host_.operation_ended(request);
    for (std::uint32_t at = first; at != kNone;) {
      const Link waiter = links_[at];
      links_[at].next = free_links_;
      free_links_ = at;
      at = waiter.next;
      if ((waiter.token & kIsOperation) != 0)
        pass_gate(static_cast<std::uint32_t>(waiter.token));
      else
        host_.wake(waiter.token);
    }
  }

  OperationHost& host_;
  Device* device_ = nullptr;
  std::vector<State> all_;
  std::vector<std::uint32_t> free_;
  std::vector<Link> links_;
  std::uint32_t free_links_ = kNone;
  std::int64_t running_ = 0;
};

}  // namespace plait::simulation
