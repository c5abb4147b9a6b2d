/// The machine on which an access is simulated: nodes, network, file system.
#pragma once

#include <array>
#include <cstdint>

#include "plan/access/costs.hpp"
#include "simulation/clock/event_queue.hpp"
#include "simulation/devices/device_kind.hpp"

namespace plait::simulation {

struct NodeSettings {
  std::int64_t ranks = 0;  ///< on one node, consecutive ones; 0: all share one
  std::int64_t cores = 1;  ///< that its ranks share
  Time plan = 50'000;      ///< in which a rank makes the plan
  Time message = 300;      ///< in which a rank works out one message
};

struct NetworkSettings {
  Time latency = 2'000;         ///< of a message
  double link_rate = 12.5e9;    ///< of a node, in each direction, in bytes a second
  double total_rate = 1e15;     ///< of all messages together
  std::int64_t eager = 65'536;  ///< bytes up to which a message leaves before its receiver waits for it
};

/// What stands between a rank and the device.
struct FileSettings {
  DeviceSpec device;
  bool cached = false;           ///< what is read is in the memory of each node
  bool through = false;          ///< writers wait for the device
  bool turns = false;            ///< the writers of a node take turns
  std::int64_t dirty_start = 0;  ///< bytes of a node from which on what was written goes to the device
  std::int64_t dirty_limit = 0;  ///< bytes of a node above which writers wait
};

/// Visits and messages that are simulated unless a number of windows is given: some ten seconds.
constexpr std::int64_t kMostWork = 10'000'000;
/// Messages of a step that are followed one by one.
constexpr std::int64_t kMostMessages = 8'000'000;

struct AccessSettings {
  NodeSettings nodes;
  NetworkSettings network;
  FileSettings files;
  plan::CostModel costs;      ///< what calls, copies and waits take
  std::int64_t windows = 0;   ///< of each reader: the first so many; 0: as many as are no more than kMostWork
  std::int64_t file_end = 0;  ///< bytes of the file
  std::int64_t most_messages = kMostMessages;

  /// errors  kArgument: names the setting, what was found and what is expected.
  void check() const;
};

}  // namespace plait::simulation
