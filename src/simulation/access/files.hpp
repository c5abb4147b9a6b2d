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

/// What was written lies in a node's memory until the device has it, in requests as they were made; which of it goes to
/// the device is told by the settings.
class Files final : private Completion, private Timer {
 public:
  Files(Resumer& resumer, Network& network, const FileSettings& settings, std::int64_t file_end);

  /// A stretch of the file, from the device to a node; done when the last byte is there.
  Task read(std::int64_t node, std::int64_t offset, std::int64_t bytes);
  /// From a node to the device.
  Task write_through(std::int64_t node, std::int64_t offset, std::int64_t bytes);
  /// Waits for room for so many bytes in the memory of a node.
  Task room(std::int64_t node, std::int64_t bytes);
  /// What is in memory now goes to the device some time.
  void put(std::int64_t node, std::int64_t offset, std::int64_t bytes);
  /// All that is in memory goes to the device now.
  void flush();
  /// The writers of a node, one after another: waits for a turn, which is given back.
  Task turn(std::int64_t node);
  void end_turn(std::int64_t node);

  const FileSettings& settings() const { return settings_; }
  /// When the device has ended its last request.
  Time last() const { return last_; }
  std::vector<DeviceUse> uses() const;

 private:
  struct Stretch {
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
  };
  struct Waiting {
    std::coroutine_handle<> handle;
    std::int64_t bytes = 0;
  };
  struct Node {
    std::deque<Stretch> written;  // not yet on its way
    std::int64_t held = 0;        // bytes of these
    std::int64_t dirty = 0;       // bytes that the device does not have
    std::deque<Waiting> writers;  // for room
    bool busy = false;            // a writer has its turn
    std::deque<std::coroutine_handle<>> turns;
  };
  /// What the device has under way, by tag: a coroutine that waits, or bytes of a node's memory.
  struct UnderWay {
    std::coroutine_handle<> waiting;
    std::int64_t node = 0;
    Stretch stretch;
  };

  void fire(std::uint64_t tag) override;
  void done(std::uint64_t tag) override;
  std::coroutine_handle<>& begin(std::int64_t node, Stretch stretch, bool write);
  std::uint64_t tag_of(const UnderWay& one);
  void submit(std::int64_t node, Stretch stretch);
  void send_above(std::int64_t node, std::int64_t most);
  bool fits(const Node& node, std::int64_t bytes) const;

  Resumer& resumer_;
  Network& network_;
  FileSettings settings_;
  std::unique_ptr<Device> device_;
  std::vector<Node> nodes_;
  std::vector<UnderWay> under_way_;
  std::vector<std::uint64_t> free_;  // of these
  Time last_ = 0;
};

}  // namespace plait::simulation
