/// The settings of a replay: processors, cache, tier, device, and changes to the actions of programs.
#pragma once

#include <cstdint>
#include <string>

#include "simulation/clock/event_queue.hpp"
#include "simulation/devices/device_kind.hpp"
#include "simulation/devices/tier.hpp"

namespace plait::simulation {

enum class ReadAheadKind : std::uint8_t { kNone, kOne, kMany, kSame, kStride, kAdaptive };
constexpr std::string_view kReadAheadNames = "none,one,many,same-size,stride,adaptive";

/// When written data goes from the cache to the device.
/// through  at once, and the program waits until the data is on the device
/// behind   at once, and the program does not wait
/// delayed  when the data has reached an age (CacheSettings::delay)
/// full     when the slot of the data is needed for another block
enum class WriteKind : std::uint8_t { kThrough, kBehind, kDelayed, kFull };
constexpr std::string_view kWriteNames = "through,behind,delayed,full";

struct CacheSettings {
  std::int64_t size = 0;  ///< in bytes; 0: there is no cache
  std::int64_t block = 4096;
  std::string policy = "lru";
  std::int64_t process_limit = 0;  ///< maximum bytes of one process in the cache; 0: no limit
  ReadAheadKind read_ahead = ReadAheadKind::kNone;
  std::int64_t read_ahead_size = 131072;  ///< in bytes: read ahead by kMany, and at most by kAdaptive
  WriteKind write = WriteKind::kThrough;
  Time delay = 30'000'000'000;          ///< age of kDelayed
  Time flush_interval = 5'000'000'000;  ///< interval between two checks of ages with kDelayed
  double dirty_start = 1;               ///< fraction of the cache above which dirty blocks are written
  double dirty_limit = 1;               ///< fraction of the cache above which writers wait
  std::int64_t coalesce = 1048576;      ///< maximum bytes of a request that joins adjacent dirty blocks
  bool write_allocate = true;           ///< true if writes bring blocks into the cache
  bool flush = false;                   ///< true if durable writes flush the device
};

struct ProcessorSettings {
  std::int64_t count = 1;
  Time quantum = 10'000'000;
  Time switch_cost = 0;     ///< cost of a switch between processes
  Time call_cost = 0;       ///< cost of the file system's code, for each request
  Time interrupt_cost = 0;  ///< cost of each request that a device completes
  Time hit_cost = 0;        ///< additional cost of each read or write request
  double copy_rate = 1e15;  ///< in bytes per second, between the cache and the program
};

struct ProgramSettings {
  bool measured = false;       ///< true if requests take their recorded time, without cache and device
  std::int64_t aggregate = 0;  ///< maximum bytes of joined adjacent requests; 0: requests are not joined
  bool asynchronous_reads = false;
  bool asynchronous_writes = false;
  bool keep_waits = true;  ///< true if recorded time that is neither computing nor I/O passes in the replay
};

struct ReplaySettings {
  ProcessorSettings processors;
  CacheSettings cache;
  TierSpec tier;
  DeviceSpec device;
  ProgramSettings program;

  /// errors  kArgument: the setting, its value and the expected values.
  void check() const;
};

}  // namespace plait::simulation
