/// What a replay is made with: processors, cache, tier, device, and changes to what the programs do.
#pragma once

#include <cstdint>
#include <string>

#include "simulation/clock/event_queue.hpp"
#include "simulation/devices/device_kind.hpp"
#include "simulation/devices/tier.hpp"

namespace plait::simulation {

enum class ReadAheadKind : std::uint8_t { kNone, kOne, kMany, kSame, kStride, kAdaptive };
constexpr std::string_view kReadAheadNames = "none,one,many,same-size,stride,adaptive";

/// through  the program waits until it is on the device
/// behind   it goes to the device at once, and the program does not wait
/// delayed  it goes there when it is older than an age
/// full     it goes there when its room is needed
enum class WriteKind : std::uint8_t { kThrough, kBehind, kDelayed, kFull };
constexpr std::string_view kWriteNames = "through,behind,delayed,full";

struct CacheSettings {
  std::int64_t size = 0;  ///< bytes; 0: there is no cache
  std::int64_t block = 4096;
  std::string policy = "lru";
  std::int64_t process_limit = 0;  ///< bytes that one process may have in it; 0: all
  ReadAheadKind read_ahead = ReadAheadKind::kNone;
  std::int64_t read_ahead_size = 131072;  ///< bytes: of kMany, and the most of kAdaptive
  WriteKind write = WriteKind::kThrough;
  Time delay = 30'000'000'000;          ///< of kDelayed: the age
  Time flush_interval = 5'000'000'000;  ///< of kDelayed: how often ages are looked at
  double dirty_start = 1;               ///< share of the cache above which dirty blocks go to the device
  double dirty_limit = 1;               ///< share of the cache above which writers wait
  std::int64_t coalesce = 1048576;      ///< bytes of the largest request that adjacent dirty blocks make
  bool write_allocate = true;           ///< whether what is written comes into the cache
  bool flush = false;                   ///< whether the device takes flushes, after writes that have to be durable
};

struct ProcessorSettings {
  std::int64_t count = 1;
  Time quantum = 10'000'000;
  Time switch_cost = 0;     ///< from one process to another
  Time call_cost = 0;       ///< of the file system's code, for each request
  Time interrupt_cost = 0;  ///< of each request that a device ends
  Time hit_cost = 0;        ///< besides, for each request that the cache serves
  double copy_rate = 1e15;  ///< bytes a second between the cache and the program
};

struct ProgramSettings {
  bool measured = false;       ///< requests take what they took when they were recorded; no cache, no device
  std::int64_t aggregate = 0;  ///< bytes up to which requests that follow each other become one; 0: as they are
  bool asynchronous_reads = false;
  bool asynchronous_writes = false;
  bool keep_waits = true;  ///< whether time that is neither computing nor I/O passes as recorded
};

struct ReplaySettings {
  ProcessorSettings processors;
  CacheSettings cache;
  TierSpec tier;
  DeviceSpec device;
  ProgramSettings program;

  /// errors  kArgument: names the setting, what was found and what is expected.
  void check() const;
};

}  // namespace plait::simulation
