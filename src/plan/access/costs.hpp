/// The machine constants from which the planner predicts times, and the time to copy short runs.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>

namespace plait::plan {

/// Constants of one rank, in seconds and bytes per second.  The defaults were fitted to `plait bench io` on a 2-core
/// virtual machine with the file in the page cache.  `plait model calibrate` measures the constants of kCostTerms.
struct CostModel {
  double request_seconds = 0.5e-6;        ///< one read call, without its bytes
  double write_request_seconds = 4e-6;    ///< one write call: writers of one file wait for its lock
  double store_bytes_per_second = 4.6e9;  ///< from the page cache into cold memory
  double window_bytes_per_second = 6e9;   ///< from the page cache into a window that stays in the processor's cache
  double copy_bytes_per_second = 15e9;    ///< between a window and an array
  double run_seconds = 2e-9;              ///< one run of such a copy, without its bytes
  double wait_seconds = 3e-6;             ///< waits for other ranks, per window
  // Constants of transfers between programs on different hosts.
  double network_bytes_per_second = 1.1e9;  ///< one TCP connection of a network of 10 Gbit/s
  double message_seconds = 50e-6;           ///< one request and the beginning of its response
  std::string source{};                     ///< file with the values; empty: built-in values
};

/// Runs shorter than this cost less, because several are copied at a time: elements of 2 bytes cost half as much as
/// those of 8.
inline constexpr double kFullRunBytes = 8;
/// The cost of a run of an array that stays in a core's cache, as a fraction of the cost for a larger array.
inline constexpr double kCachedRun = 0.4;
/// The largest array that is assumed to stay in a core's cache.
inline constexpr double kCoreCacheBytes = 2 << 20;

/// Returns the time of the runs of a copy to or from an array of `bytes` bytes, without the time to move these bytes.
inline double runs_seconds(const CostModel& costs, std::int64_t runs, double bytes) {
  if (runs == 0) return 0;
  const auto count = static_cast<double>(runs);
  const double width = std::min(std::sqrt(bytes / count / kFullRunBytes), 1.0);
  return count * costs.run_seconds * width * (bytes <= kCoreCacheBytes ? kCachedRun : 1.0);
}

/// A constant that can be measured: its name in files, its member, and its valid range.
struct CostTerm {
  const char* name;
  double CostModel::* value;
  double minimum;
  double maximum;
};

inline constexpr double kMinSeconds = 1e-13;
inline constexpr double kMaxSeconds = 10;
inline constexpr double kMinRate = 1e3;
inline constexpr double kMaxRate = 1e15;

inline constexpr std::array<CostTerm, 7> kCostTerms{{
    {"request_seconds", &CostModel::request_seconds, kMinSeconds, kMaxSeconds},
    {"write_request_seconds", &CostModel::write_request_seconds, kMinSeconds, kMaxSeconds},
    {"store_bytes_per_second", &CostModel::store_bytes_per_second, kMinRate, kMaxRate},
    {"window_bytes_per_second", &CostModel::window_bytes_per_second, kMinRate, kMaxRate},
    {"copy_bytes_per_second", &CostModel::copy_bytes_per_second, kMinRate, kMaxRate},
    {"run_seconds", &CostModel::run_seconds, kMinSeconds, kMaxSeconds},
    {"wait_seconds", &CostModel::wait_seconds, kMinSeconds, kMaxSeconds},
}};

}  // namespace plait::plan
