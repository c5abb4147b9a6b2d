/// Agreements of processes that already share memory of the node.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "transport/shared_memory/group.hpp"
#include "transport/shared_memory/meeting.hpp"

namespace plait::transport::shared_memory {

/// A meeting through the control block of a group.
class GroupMeeting : public Meeting {
 public:
  void broadcast_from_first(std::span<std::byte> bytes) override { group().broadcast(bytes, 0); }
  bool all_true(bool value) override {
    std::array<std::int64_t, 1> agreed{value ? 1 : 0};
    group().reduce_min(agreed);
    return agreed[0] != 0;
  }
  std::vector<std::int64_t> gather(std::int64_t value) override { return group().gather(value); }
  void reduce_max(std::span<std::int64_t> values) override {
    for (std::int64_t& value : values) value = -value;
    reduce_min(values);
    for (std::int64_t& value : values) value = -value;
  }

 private:
  virtual Group& group() = 0;
  /// Reduces over the node, or over all processes.
  virtual void reduce_min(std::span<std::int64_t> values) = 0;
};

}  // namespace plait::transport::shared_memory
