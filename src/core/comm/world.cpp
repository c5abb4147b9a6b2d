#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "base/job.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "plait/comm.hpp"
#include "plait/error.hpp"
#include "transport/local/local_transport.hpp"
#include "transport/thread/team.hpp"

namespace plait {

namespace {

/// The job's communicator, which goes with the process that has made it.
struct World {
  std::mutex mutex;
  std::optional<Comm> comm;
  std::atomic<const base::Owner*> owner{nullptr};
};

World& known_world() {
  static auto* const kept = new World;
  return *kept;
}

Comm make_world(double seconds) {
  const auto job = transport::local::job_of_environment();
  if (job && job->size > 1) return Comm(transport::local::make_transport(*job, std::chrono::duration<double>(seconds)));
  const auto launched = base::job_rank();
  if (!job && launched)
    throw Error(ErrorKind::kArgument,
                base::text("this process is rank ", launched->rank,
                           " of a job that an MPI launcher has started; pass the communicator of MPI (make_comm, "
                           "plait_comm_from_mpi), or start the program with plait run"));
  return Comm(transport::thread::make_alone());
}

}  // namespace

Comm Comm::world(double seconds) {
  if (std::isnan(seconds) || seconds < 0)
    throw Error(ErrorKind::kArgument, base::text("a wait of ", seconds, " s cannot be; give 0 or more"));
  World& known = known_world();
  // A child may have been forked while another thread held the lock.
  if (const base::Owner* const owner = known.owner.load(std::memory_order_acquire))
    owner->check("the communicator of the job", "work without it in this process");
  const std::scoped_lock lock(known.mutex);
  if (!known.comm) {
    known.comm = make_world(seconds);
    known.owner.store(new base::Owner, std::memory_order_release);
  }
  return *known.comm;
}

}  // namespace plait
