/// The file system of a simulated access: requests of nodes, through their memory and links, to a device.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "simulation/access/network.hpp"
#include "simulation/access/settings.hpp"
#include "simulation/access/task.hpp"
#include "simulation/devices/device.hpp"

namespace plait::simulation {

/// Written data stays in the node's memory until the device has it, as one stretch for each request. FileSettings
/// decide when a stretch is sent to the device.
class Files final : private Completion, private Timer {
 public:
  Files(Resumer& resumer, Network& network, const FileSettings& settings, std::int64_t file_end);

  /// Reads a stretch of the file from the device to a node. Ends when the last byte has arrived.
  Task read(std::int64_t node, std::int64_t offset, std::int64_t bytes);
  /// Writes a stretch from a node to the device. Ends when the device has it.
  Task write_through(std::int64_t node, std::int64_t offset, std::int64_t bytes);
  /// Waits until the memory of a node has capacity for `bytes`.
  Task reserve_memory(std::int64_t node, std::int64_t bytes);
  /// Adds a stretch to the memory of a node, from which it is sent to the device later.
  void put(std::int64_t node, std::int64_t offset, std::int64_t bytes);
  /// Sends everything that is in memory to the device.
  void flush();
  /// Serializes the writers of a node: waits for the turn, which end_turn() returns.
  Task turn(std::int64_t node);
  void end_turn(std::int64_t node);

  const FileSettings& settings() const { return settings_; }
  /// Time at which the device finished its last request.
  Time last() const { return last_; }
  std::vector<DeviceUse> uses() const;

 private:
  struct Stretch {
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
  };
  struct CapacityWaiter {
    std::coroutine_handle<> handle;
    std::int64_t bytes = 0;
  };
  struct Node {
    std::deque<Stretch> written;         // not yet sent
    std::int64_t held = 0;               // bytes in `written`
    std::int64_t dirty = 0;              // bytes that the device has not written
    std::deque<CapacityWaiter> writers;  // writers that wait for capacity
    bool busy = false;                   // true if a writer has its turn
    std::deque<std::coroutine_handle<>> turns;
  };
  /// A request in progress, by tag: a coroutine that waits for it, or bytes in a node's memory.
  struct RequestInProgress {
    std::coroutine_handle<> waiting;
    std::int64_t node = 0;
    Stretch stretch;
  };

  void fire(std::uint64_t tag) override;
  void done(std::uint64_t tag) override;
  std::coroutine_handle<>& begin(std::int64_t node, Stretch stretch, bool write);
  std::uint64_t allocate_tag(const RequestInProgress& request);
  void submit(std::int64_t node, Stretch stretch);
  void send_above(std::int64_t node, std::int64_t limit);
  bool fits(const Node& node, std::int64_t bytes) const;

  Resumer& resumer_;
  Network& network_;
  FileSettings settings_;
  std::unique_ptr<Device> device_;
  std::vector<Node> nodes_;
  std::vector<RequestInProgress> under_way_;
  std::vector<std::uint64_t> free_;  // free tags
  Time last_ = 0;
};

}  // namespace plait::simulation
