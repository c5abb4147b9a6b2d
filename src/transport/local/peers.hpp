/// Detects the end of the other processes of a job.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/process_watch.hpp"
#include "transport/gates.hpp"
#include "transport/shared_memory/departure.hpp"

namespace plait::transport::local {

/// Processes end one by one, each when its program is done.  A process that has contributed to all agreements that this
/// one still needs (shared_memory/departure.hpp) may end; the end of others is an error.
class PeerLiveness : public Liveness {
 public:
  /// `departures` are those of all processes, by their ranks, in shared memory. Each process writes its own; `rank` is
  /// that of this process.
  PeerLiveness(std::span<shared_memory::Departure> departures, int rank, const shared_memory::Progress& progress,
               std::vector<std::shared_ptr<const base::ProcessWatch>> peers)
      : departures_(departures), rank_(rank), progress_(progress), peers_(std::move(peers)) {}
  void check() override;
  void check_interruption() override;

 private:
  std::span<shared_memory::Departure> departures_;
  int rank_;
  const shared_memory::Progress& progress_;
  std::vector<std::shared_ptr<const base::ProcessWatch>> peers_;
};

}  // namespace plait::transport::local
