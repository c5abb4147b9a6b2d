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

/// Written data stays in the node's memory until the device has it, as one stretch (offset and number of bytes) for
/// each request. FileSettings::dirty_start and dirty_limit decide when a stretch is sent to the device.
class Files final : private Completion, private Timer {
 public:
  Files(Resumer& resumer, Network& network, const FileSettings& settings, std::int64_t file_end);

  /// Reads a stretch of the file from the device to a node. Ends when the last byte has arrived.
  Task read(std::int64_t node, std::int64_t offset, std::int64_t bytes);
  /// Writes a stretch from a node to the device. Ends when the device has it.
  Task write_through(std::int64_t node, std::int64_t offset, std::int64_t bytes);
  /// Waits until `bytes` more unwritten bytes fit the node's memory (dirty_limit), and counts them as dirty.
  Task reserve_memory(std::int64_t node, std::int64_t bytes);
  /// Adds a stretch to the memory of a node, from which it is sent to the device later.
  void add_written(std::int64_t node, std::int64_t offset, std::int64_t bytes);
  /// Sends everything that is in memory to the device.
  void flush();
  /// Waits until no other writer of the node has its turn, if writers take turns; end_turn() ends the turn.
  Task await_turn(std::int64_t node);
  void end_turn(std::int64_t node);

  const FileSettings& settings() const { return settings_; }
  /// The time at which the device finished its last request.
  Time last_completion() const { return last_completion_; }
  std::vector<DeviceUse> device_uses() const;

 private:
  struct Stretch {
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
  };
  struct WaitingWriter {
    std::coroutine_handle<> handle;
    std::int64_t bytes = 0;
  };
  struct Node {
    std::deque<Stretch> written;                // not yet sent to the device, oldest first
    std::int64_t unsent = 0;                    // bytes in `written`
    std::int64_t dirty = 0;                     // bytes in memory that the device has not written, sent or not
    std::deque<WaitingWriter> writers;          // writers that wait until their bytes fit
    bool busy = false;                          // true if a writer has its turn
    std::deque<std::coroutine_handle<>> turns;  // writers that wait for their turn
  };
  /// A request to the device in progress. Its tag is its index in requests_. Either a coroutine waits for it, or its
  /// bytes are in a node's memory and count as dirty.
  struct RequestInProgress {
    std::coroutine_handle<> waiting;
    std::int64_t node = 0;
    Stretch stretch;
  };

  void fire(std::uint64_t tag) override;
  void done(std::uint64_t tag) override;
  std::coroutine_handle<>& begin_request(std::int64_t node, Stretch stretch, bool write);
  std::uint64_t allocate_tag(const RequestInProgress& request);
  void submit(std::int64_t node, Stretch stretch);
  void send_down_to(std::int64_t node, std::int64_t max_unsent);
  bool fits(const Node& node, std::int64_t bytes) const;

  Resumer& resumer_;
  Network& network_;
  FileSettings settings_;
  std::unique_ptr<Device> device_;
  std::vector<Node> nodes_;
  std::vector<RequestInProgress> requests_;
  std::vector<std::uint64_t> free_tags_;  // indices of unused entries of requests_
  Time last_completion_ = 0;
};

}  // namespace plait::simulation
