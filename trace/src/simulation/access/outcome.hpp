/// The results of a simulated access.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "simulation/devices/device.hpp"
#include "simulation/replay/outcome.hpp"

namespace plait::simulation {

/// The kinds of work on which a rank spends time.
enum class Phase : std::uint8_t {
  kPlan,      ///< makes the plan, computes messages
  kFile,      ///< calls the file system
  kExchange,  ///< waits for messages
  kCopy,      ///< copies between windows, messages and its array
  kWaiting,   ///< waits for other ranks: for windows, for a core, for an agreement
};
constexpr std::size_t kPhases = 5;

/// What one rank did during the access.
struct RankOutcome {
  std::array<Time, kPhases> times{};  ///< time spent in each phase
  std::int64_t requests = 0;          ///< number of file requests
  std::int64_t bytes = 0;             ///< bytes of file requests
  std::int64_t sent = 0;              ///< number of messages
  std::int64_t sent_bytes = 0;
  std::int64_t received = 0;
  std::int64_t received_bytes = 0;
};

/// The traffic from one node to another, or between a node and the file system. The file system has the number that
/// follows the last node's: with 4 nodes (0 to 3) it is 4.
struct LinkUse {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t messages = 0;  ///< messages or requests
  std::int64_t bytes = 0;
};

struct AccessOutcome {
  Time elapsed = 0;  ///< time at which the last rank returns
  Time drained = 0;  ///< time at which all written data is on the device
  std::int64_t nodes = 1;
  std::int64_t windows = 0;    ///< number of windows of the reader that has the most
  std::int64_t simulated = 0;  ///< number of windows that were simulated
  bool whole_windows = false;  ///< true if exchanges were simulated as a whole, not message by message
  std::vector<RankOutcome> ranks;
  std::vector<LinkUse> links;  ///< in ascending order of both nodes
  std::vector<DeviceUse> devices;
  std::array<TimeSeries, kPhases> series;  ///< time of all ranks in each phase, in ns, by time of the run
};

}  // namespace plait::simulation
