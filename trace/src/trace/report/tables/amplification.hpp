/// The relation of physical bytes (requests that reached a device) to logical ones (calls of the program).
#pragma once

#include <vector>

#include "trace/report/call.hpp"

namespace plait::trace::report {

/// Receives the events of both levels. The levels of an operation are joined if it is among the last 250,000 or so.
/// memory  4 MiB.
class Amplifier {
 public:
  void add(std::span<const Call> calls);
  void store_results(Report& report) const;

 private:
  struct OperationLevels {
    std::uint64_t operation = 0;
    std::uint32_t process = 0;
    std::uint32_t levels = 0;  // bits: 1 logical, 2 physical events were seen
  };
  static constexpr std::size_t kSlots = std::size_t{1} << 18;

  std::vector<OperationLevels> operations_;
  Amplification sums_;
  bool has_logical_ = false;
  bool has_physical_ = false;
};

}  // namespace plait::trace::report
