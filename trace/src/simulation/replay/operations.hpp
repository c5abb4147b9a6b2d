/// Requests to the device that are in progress, and the processes that wait for them.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "simulation/devices/device.hpp"

namespace plait::simulation {

/// A handle of an operation. It stays a valid argument after the operation has ended: `generation` differs if its entry
/// is used again.
struct Operation {
  std::uint32_t index = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t generation = 0;
  bool operator==(const Operation&) const = default;
};

/// The receiver of ended operations.
class OperationHost {
 public:
  virtual ~OperationHost() = default;
  /// Called at the end of each operation, before wake().
  virtual void operation_ended(const DeviceRequest& request) = 0;
  /// Called when an operation has ended for which wait(operation, token) was called.
  virtual void wake(std::uint64_t token) = 0;
};

/// An operation is a device request that may have to wait for others. It is created, ordered after other operations,
/// and released. It begins when it is released and the operations before it have ended.
///
/// Example: create W (a write of a dirty block) and release it; create R (a read into the same slot), run_after(R, W),
/// release(R). R has two gates, one for its release and one for W. When W ends, the second gate opens and R is
/// submitted to the device.
/// cost  O(1) each.
/// memory  about 60 bytes for each operation in progress.
class Operations final : public Completion {
 public:
  explicit Operations(OperationHost& host) : host_(host) {}
  void set_device(Device& device) { device_ = &device; }

  bool is_running(Operation operation) const noexcept {
    return operation.index < states_.size() && states_[operation.index].generation == operation.generation;
  }
  std::int64_t running_count() const noexcept { return running_count_; }
  /// True if a running operation reads.
  bool is_read(Operation operation) const noexcept { return !states_[operation.index].request.write; }

  Operation create(const DeviceRequest& request) {
    if (free_states_.empty()) {
      free_states_.push_back(static_cast<std::uint32_t>(states_.size()));
      states_.emplace_back();
    }
    const std::uint32_t index = free_states_.back();
    free_states_.pop_back();
    State& state = states_[index];
    state.request = request;
    state.request.tag = std::uint64_t{index} + 1;
    state.gates = 1;  // one gate until it is released
    state.last_waiter = kNone;
    ++running_count_;
    return {index, state.generation};
  }

  /// Lets `later`, which is not released yet, begin only after `earlier` has ended.
  void run_after(Operation later, Operation earlier) {
    if (!is_running(earlier) || later == earlier) return;
    ++states_[later.index].gates;
    add_waiter(earlier.index, later.index | kIsOperation);
  }

  /// Sets the extent of an operation that is not released yet.
  void set_extent(Operation operation, std::int64_t address, std::int64_t length) {
    states_[operation.index].request.address = address;
    states_[operation.index].request.length = length;
  }

  void release(Operation operation) { open_gate(operation.index); }

  /// Calls OperationHost::wake() when the operation ends. Returns false if it has ended already.
  bool wait(Operation operation, std::uint64_t token) {
    if (!is_running(operation)) return false;
    add_waiter(operation.index, token);
    return true;
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint64_t kIsOperation = std::uint64_t{1} << 63;

  struct State {
    DeviceRequest request;
    std::uint32_t generation = 1;
    std::uint32_t gates = 0;            // number of closed gates; with 0 the operation is submitted
    std::uint32_t last_waiter = kNone;  // index in links_ of the waiter that was added last
  };
  struct Link {
    std::uint64_t token = 0;  // token for wake(), or kIsOperation with the index of an operation
    std::uint32_t next = kNone;
  };

  void add_waiter(std::uint32_t index, std::uint64_t token) {
    if (free_links_ == kNone) {
      free_links_ = static_cast<std::uint32_t>(links_.size());
      links_.emplace_back();
    }
    const std::uint32_t index_of_link = free_links_;
    free_links_ = links_[index_of_link].next;
    links_[index_of_link] = {token, states_[index].last_waiter};
    states_[index].last_waiter = index_of_link;
  }

  void open_gate(std::uint32_t index) {
    if (--states_[index].gates == 0) device_->submit(states_[index].request);
  }

  void done(std::uint64_t tag) override {
    const auto index = static_cast<std::uint32_t>(tag - 1);
    State& state = states_[index];
    const DeviceRequest request = state.request;
    ++state.generation;
    --running_count_;
    // The list has the newest waiter first. Reversing it wakes the waiters in the order in which they began to wait.
    std::uint32_t first = kNone;
    for (std::uint32_t waiter_index = state.last_waiter; waiter_index != kNone;) {
      const std::uint32_t next = links_[waiter_index].next;
      links_[waiter_index].next = first;
      first = waiter_index;
      waiter_index = next;
    }
    free_states_.push_back(index);
    host_.operation_ended(request);
    for (std::uint32_t waiter_index = first; waiter_index != kNone;) {
      const Link waiter = links_[waiter_index];
      links_[waiter_index].next = free_links_;
      free_links_ = waiter_index;
      waiter_index = waiter.next;
      if ((waiter.token & kIsOperation) != 0)
        open_gate(static_cast<std::uint32_t>(waiter.token));
      else
        host_.wake(waiter.token);
    }
  }

  OperationHost& host_;
  Device* device_ = nullptr;
  std::vector<State> states_;
  std::vector<std::uint32_t> free_states_;
  std::vector<Link> links_;
  std::uint32_t free_links_ = kNone;
  std::int64_t running_count_ = 0;
};

}  // namespace plait::simulation
