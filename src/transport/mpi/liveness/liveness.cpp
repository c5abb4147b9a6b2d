#include "transport/mpi/liveness/liveness.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <mutex>
#include <utility>

#include "base/text.hpp"
#include "plait/error.hpp"
#include "transport/mpi/check.hpp"

namespace plait::transport::mpi {

namespace {

/// A descriptor of a process, shared by all that watch it; none where the kernel offers none.
std::shared_ptr<const int> descriptor_of([[maybe_unused]] pid_t process) {
#ifdef SYS_pidfd_open
  static std::mutex mutex;
  static std::map<pid_t, std::weak_ptr<const int>> known;
  const std::scoped_lock lock(mutex);
  std::weak_ptr<const int>& entry = known[process];
  if (std::shared_ptr<const int> found = entry.lock()) return found;
  const auto number = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
  if (number < 0) return nullptr;
  std::shared_ptr<const int> made(new int(number), [](const int* descriptor) {
    ::close(*descriptor);
    delete descriptor;
  });
  entry = made;
  return made;
#else
  return nullptr;
#endif
}

}  // namespace

PeerLiveness::PeerLiveness(MPI_Comm node, std::vector<int> workers, const node::Departure& departure,
                           const node::Progress& progress)
    : workers_(std::move(workers)), departure_(departure), progress_(progress) {
  // A descriptor rather than the number, which another process may get.  Process numbers mean the same only inside one
  // namespace.
  struct stat space{};
  const bool known = ::stat("/proc/self/ns/pid", &space) == 0;
  const std::array<long long, 2> mine{::getpid(), known ? static_cast<long long>(space.st_ino) : -1 - ::getpid()};
  std::vector<std::array<long long, 2>> all(workers_.size());
  mpi::check(MPI_Allgather(mine.data(), 2, MPI_LONG_LONG, all.data(), 2, MPI_LONG_LONG, node), "MPI_Allgather");
  for (const auto& [process, name_space] : all) {
    const bool reachable = name_space == mine[1] && process != mine[0];
    descriptors_.push_back(reachable ? descriptor_of(static_cast<pid_t>(process)) : nullptr);
  }
}

void PeerLiveness::check() {
  if (look) look();
  departure_.check(progress_);  // first: it tells more
  for (std::size_t i = 0; i < descriptors_.size(); ++i) {
    if (!descriptors_[i]) continue;
    pollfd state{*descriptors_[i], POLLIN, 0};
    if (::poll(&state, 1, 0) > 0)
      throw Error(
          ErrorKind::kSystem,
          base::text("rank ", workers_[i], " has ended during a collective call; nothing more can be done together"),
          EOWNERDEAD);
  }
  if (losses != nullptr) losses->check_waiting();
}

}  // namespace plait::transport::mpi
