#include "transport/mpi/liveness.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/text.hpp"
#include "plait/error.hpp"
#include "transport/mpi/check.hpp"

namespace plait::transport::mpi {

PeerLiveness::PeerLiveness(MPI_Comm node, std::vector<int> workers) : workers_(std::move(workers)) {
  // Process numbers mean the same only inside one namespace.
  struct stat space {};
  const bool known = ::stat("/proc/self/ns/pid", &space) == 0;
  const std::array<long long, 2> mine{::getpid(), known ? static_cast<long long>(space.st_ino) : -1 - ::getpid()};
  std::vector<std::array<long long, 2>> all(workers_.size());
  mpi::check(MPI_Allgather(mine.data(), 2, MPI_LONG_LONG, all.data(), 2, MPI_LONG_LONG, node), "MPI_Allgather");
  for (const auto& [process, name_space] : all) {
    const bool reachable = name_space == mine[1] && process != mine[0];
#ifdef SYS_pidfd_open
    descriptors_.push_back(reachable ? static_cast<int>(::syscall(SYS_pidfd_open, process, 0)) : -1);
#else
    descriptors_.push_back(-1);
#endif
  }
}

PeerLiveness::~PeerLiveness() {
  for (const int descriptor : descriptors_)
    if (descriptor >= 0) ::close(descriptor);
}

void PeerLiveness::check() {
  for (std::size_t i = 0; i < descriptors_.size(); ++i) {
    pollfd state{descriptors_[i], POLLIN, 0};
    if (descriptors_[i] >= 0 && ::poll(&state, 1, 0) > 0)
      throw Error(ErrorKind::kSystem,
                  base::text("rank ", workers_[i], " has ended during a collective call; nothing more can be done together"),
                  EOWNERDEAD);
  }
}

}  // namespace plait::transport::mpi
