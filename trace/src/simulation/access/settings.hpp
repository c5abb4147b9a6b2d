/// The machine on which an access is simulated: nodes, network, file system.
#pragma once

#include <array>
#include <cstdint>

#include "plan/access/costs.hpp"
#include "simulation/clock/event_queue.hpp"
#include "simulation/devices/device_kind.hpp"

namespace plait::simulation {

struct NodeSettings {
  std::int64_t ranks = 0;  ///< consecutive ranks on each node; 0: all ranks on one node
  std::int64_t cores = 1;  ///< cores of a node, which its ranks share
  Time plan = 10'000;      ///< time that a rank takes to make the plan
  Time message = 300;      ///< time that a rank takes to compute the contents of one message
};

struct NetworkSettings {
  Time latency = 2'000;         ///< latency of a message
  double link_rate = 12.5e9;    ///< rate of a node in each direction, in bytes per second
  double total_rate = 1e15;     ///< rate of all messages together, in bytes per second
  std::int64_t eager = 65'536;  ///< largest message in bytes that MPI sends before the receiver has posted its receive
};

/// The file system between the ranks and the device. With write_through = false, writes return once the data is in the
/// node's memory.
struct FileSettings {
  DeviceSpec device;
  bool cached = false;              ///< the file is in the memory of each node, so reads use no device
  bool write_through = false;       ///< writers wait for the device
  bool writers_take_turns = false;  ///< the writers of a node take turns
  std::int64_t dirty_start = 0;     ///< unsent bytes in a node's memory above which it sends them to the device
  std::int64_t dirty_limit = 0;     ///< bytes of a node not yet on the device above which its writers wait
};

/// Number of copies and messages that are simulated if the user sets no number of windows. They take about ten seconds
/// of computing.
constexpr std::int64_t kMaxWork = 10'000'000;
/// Maximum number of messages of one window that are simulated one by one.
constexpr std::int64_t kMaxMessages = 8'000'000;

struct AccessSettings {
  NodeSettings nodes;
  NetworkSettings network;
  FileSettings files;
  plan::CostModel costs;  ///< times of calls, copies and waits
  /// Number of windows (pieces of the file in memory at one time) to simulate for each reader (rank that accesses the
  /// file), from the first; 0: as many as kMaxWork permits.
  std::int64_t windows = 0;
  std::int64_t file_end = 0;  ///< size of the file in bytes
  std::int64_t max_messages = kMaxMessages;

  /// errors  kArgument: the setting, its value and the expected values.
  void check() const;
};

}  // namespace plait::simulation
