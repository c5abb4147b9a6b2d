#include "transport/mpi/forked.hpp"

#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <set>

#include "base/text.hpp"
#include "plait/error.hpp"
#include "transport/mpi/connections/wake_ups.hpp"

namespace plait::transport::mpi {

namespace {

/// The process that had MPI running when it forked this one; 0: none.
std::atomic<int> mpi_process{0};
bool running = false;  // at the fork that is under way

void before_fork() {
  int started = 0;
  int ended = 0;
  running = MPI_Initialized(&started) == MPI_SUCCESS && started != 0 && MPI_Finalized(&ended) == MPI_SUCCESS &&
            ended == 0 && mpi_process.load() == 0;
}

void in_child() {
  if (running) mpi_process = ::getppid();
}

[[maybe_unused]] const bool watching = ::pthread_atfork(before_fork, nullptr, in_child) == 0;

}  // namespace

void check_not_forked() {
  if (const int process = mpi_process.load(); process != 0)
    throw Error(ErrorKind::kArgument,
                base::text("MPI belongs to process ", process, ", and this is process ", ::getpid(),
                           ", a forked child of it; work without a communicator in this process"));
}

struct WakeUps::Forks {
  std::mutex mutex;
  std::set<WakeUps*> all;

  static Forks& instance() {
    static auto* const kept = new Forks;
    return *kept;
  }
  static void before() {
    instance().mutex.lock();
    for (WakeUps* one : instance().all) one->mutex_.lock();
  }
  static void in_parent() {
    for (WakeUps* one : instance().all) one->mutex_.unlock();
    instance().mutex.unlock();
  }
  static void in_child() {
    for (WakeUps* one : instance().all) {
      for (const int own : {one->set_, one->self_, one->local_, one->network_})
        if (own >= 0) ::close(own);
      for (const auto& [peer, socket] : one->outgoing_) ::close(socket);
      for (const auto& [socket, connection] : one->accepted_) ::close(socket);
      one->attempts_.clear();
      one->mutex_.unlock();
    }
    instance().all.clear();
    instance().mutex.unlock();
  }
};

void WakeUps::watch_forks() {
  [[maybe_unused]] static const bool registered =
      ::pthread_atfork(Forks::before, Forks::in_parent, Forks::in_child) == 0;
  const std::scoped_lock lock(Forks::instance().mutex);
  Forks::instance().all.insert(this);
}

void WakeUps::forget_forks() {
  const std::scoped_lock lock(Forks::instance().mutex);
  Forks::instance().all.erase(this);
}

}  // namespace plait::transport::mpi
