/// What the planner assumes of a machine.
#pragma once

#include <array>
#include <string>

namespace plait::plan {

/// Seconds, and bytes per second, of one rank.  The defaults were fitted to `plait bench io` on a 2-core virtual machine
/// with the file in the page cache; `plait model calibrate` measures those of kCostTerms.
struct CostModel {
  double request_seconds = 0.5e-6;        ///< one read call, besides its bytes
  double write_request_seconds = 4e-6;    ///< one write call: writers of one file queue for its lock
  double store_bytes_per_second = 4.6e9;  ///< from the page cache into cold memory
  double window_bytes_per_second = 6e9;   ///< from the page cache into a window that stays in the processor's cache
  double copy_bytes_per_second = 15e9;    ///< between a window and an array
  double run_seconds = 2e-9;              ///< one run of such a copy, besides its bytes
  double step_seconds = 3e-6;             ///< one window's worth of waiting for each other
  // Between programs on different hosts.
  double network_bytes_per_second = 1.1e9;  ///< one TCP connection of a network of 10 Gbit/s
  double message_seconds = 50e-6;           ///< one request, and the beginning of its answer
  std::string source{};                     ///< the file that the values are from; empty: none, they are built in
};

/// A constant that can be measured, by its name in files, and the values that it can have.
struct CostTerm {
  const char* name;
  double CostModel::* value;
  double least;
  double most;
};

inline constexpr double kLeastSeconds = 1e-13;
inline constexpr double kMostSeconds = 10;
inline constexpr double kLeastRate = 1e3;
inline constexpr double kMostRate = 1e15;

inline constexpr std::array<CostTerm, 7> kCostTerms{{
    {"request_seconds", &CostModel::request_seconds, kLeastSeconds, kMostSeconds},
    {"write_request_seconds", &CostModel::write_request_seconds, kLeastSeconds, kMostSeconds},
    {"store_bytes_per_second", &CostModel::store_bytes_per_second, kLeastRate, kMostRate},
    {"window_bytes_per_second", &CostModel::window_bytes_per_second, kLeastRate, kMostRate},
    {"copy_bytes_per_second", &CostModel::copy_bytes_per_second, kLeastRate, kMostRate},
    {"run_seconds", &CostModel::run_seconds, kLeastSeconds, kMostSeconds},
    {"step_seconds", &CostModel::step_seconds, kLeastSeconds, kMostSeconds},
}};

}  // namespace plait::plan
