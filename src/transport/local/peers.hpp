/// The end of the other processes of a job.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/process_watch.hpp"
#include "transport/gates.hpp"
#include "transport/shared_memory/departure.hpp"

namespace plait::transport::local {

/// Processes end one by one, each when it is done: one that has left and done its part before is no loss.
class PeerLiveness : public Liveness {
 public:
  /// `departures`: of all processes, by their ranks, in memory that they share; each writes its own, `rank` that of
  /// this one.
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
