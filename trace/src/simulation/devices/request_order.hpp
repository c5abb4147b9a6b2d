/// Orders in which a disk serves its waiting requests.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "simulation/devices/device.hpp"

namespace plait::simulation {

enum class OrderKind : std::uint8_t { kFifo, kElevator, kDeadline };
constexpr std::string_view kOrderNames = "fifo,elevator,deadline";

/// The waiting requests of a disk.
/// fifo      in the order of arrival
/// elevator  ascending by address, then again from the lowest
/// deadline  like the elevator, but a request that has waited for too long comes first
/// cost  O(log waiting) each.
class RequestOrder {
 public:
  /// read_limit, write_limit  maximum waiting times, used by kDeadline
  RequestOrder(OrderKind kind, Time read_limit, Time write_limit) : kind_(kind), limits_{read_limit, write_limit} {}

  bool empty() const noexcept { return waiting_.empty(); }

  void add(Time now, const DeviceRequest& request) {
    const std::uint64_t number = ++count_;
    waiting_.emplace(Key{kind_ == OrderKind::kFifo ? 0 : request.address, number}, request);
    if (kind_ == OrderKind::kDeadline)
      expiring_[request.write ? 1 : 0].push_back({now + limits_[request.write ? 1 : 0], {request.address, number}});
  }

  /// Removes and returns the next request, which must exist.
  /// head  the address of the disk's head
  DeviceRequest take(Time now, std::int64_t head) {
    auto next = kind_ == OrderKind::kFifo ? waiting_.begin() : waiting_.lower_bound({head, 0});
    if (next == waiting_.end()) next = waiting_.begin();
    for (auto& queue : expiring_) {
      while (!queue.empty() && !waiting_.contains(queue.front().key)) queue.pop_front();
      if (queue.empty() || queue.front().time > now) continue;
      next = waiting_.find(queue.front().key);
      break;
    }
    const DeviceRequest request = next->second;
    waiting_.erase(next);
    return request;
  }

 private:
  struct Key {
    std::int64_t address = 0;
    std::uint64_t number = 0;
    auto operator<=>(const Key&) const = default;
  };
  struct Expiry {
    Time time;
    Key key;
  };

  OrderKind kind_;
  Time limits_[2];
  std::map<Key, DeviceRequest> waiting_;
  std::deque<Expiry> expiring_[2];  // reads, writes
  std::uint64_t count_ = 0;
};

}  // namespace plait::simulation
