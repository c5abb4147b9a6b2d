#include "transport/mpi/liveness/liveness.hpp"

#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "base/process_watch.hpp"
#include "base/text.hpp"
#include "plait/error.hpp"
#include "transport/mpi/check.hpp"

namespace plait::transport::mpi {

PeerLiveness::PeerLiveness(MPI_Comm node, std::vector<int> workers, const node::Departure& departure,
                           const node::Progress& progress)
    : workers_(std::move(workers)), departure_(departure), progress_(progress) {
  // A descriptor rather than the number, which another process may get.  Process numbers mean the same only inside one
  // namespace.
  struct stat space{};
  const bool known = ::stat("/proc/self/ns/pid", &space) == 0;
  const base::ProcessId self = base::this_process();
  const std::array<std::int64_t, 3> mine{known ? static_cast<std::int64_t>(space.st_ino) : -1 - self.number,
                                         self.number, self.started};
  std::vector<std::array<std::int64_t, 3>> all(workers_.size());
  mpi::check(MPI_Allgather(mine.data(), 3, MPI_INT64_T, all.data(), 3, MPI_INT64_T, node), "MPI_Allgather");
  for (const auto& [name_space, number, started] : all) {
    const bool reachable = name_space == mine[0] && number != self.number;
    peers_.push_back(reachable ? base::ProcessWatch::of({number, started}) : nullptr);
  }
}

void PeerLiveness::check() {
  if (look_) look_();
  departure_.check(progress_);  // first: it tells more
  for (std::size_t i = 0; i < peers_.size(); ++i)
    if (peers_[i] && peers_[i]->ended())
      throw Error(
          ErrorKind::kSystem,
          base::text("rank ", workers_[i], " has ended during a collective call; nothing more can be done together"),
          EOWNERDEAD);
  if (losses_ != nullptr) losses_->check_waiting();
}

}  // namespace plait::transport::mpi
