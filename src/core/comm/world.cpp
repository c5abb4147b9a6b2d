#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "base/errors.hpp"
#include "base/job.hpp"
#include "base/process.hpp"
#include "core/comm/internals.hpp"
#include "plait/comm.hpp"
#include "transport/local/local_transport.hpp"
#include "transport/thread/team.hpp"

namespace plait {

namespace {

/// The job's communicator, which belongs to the process that called world() first.
struct World {
  base::PerProcess<std::mutex> mutex;  // per process, because a child may be forked while it is locked
  std::optional<Comm> comm;
  std::atomic<const base::Owner*> owner{nullptr};
};

/// Returns the World of this program, which is never destroyed.
World& get_world() {
  static auto* const instance = new World;
  return *instance;
}

/// Returns the owner of the communicator: the process that called world() first. Callers check it before any lock or
/// wait, because a forked child must not wait for events that only its parent can cause.
const base::Owner& get_owner(World& world) {
  const base::Owner* owner = world.owner.load(std::memory_order_acquire);
  if (owner != nullptr) return *owner;
  auto new_owner = std::make_unique<const base::Owner>();
  if (world.owner.compare_exchange_strong(owner, new_owner.get(), std::memory_order_acq_rel))
    return *new_owner.release();
  return *owner;  // another thread was first
}

Comm make_world(double seconds) {
  const auto job = transport::local::job_from_environment();
  if (job && job->size > 1)
    return core::comm_over(transport::local::make_transport(*job, std::chrono::duration<double>(seconds)));
  const auto launcher_rank = base::job_rank();
  if (!job && launcher_rank)
    base::throw_argument_error("this process is rank ", launcher_rank->rank,
                               " of a job that an MPI launcher has started; pass the communicator of MPI (make_comm, "
                               "plait_comm_from_mpi), or start the program with plait run");
  return core::comm_over(transport::thread::make_alone());
}

}  // namespace

Comm Comm::world(double seconds) {
  if (std::isnan(seconds) || seconds < 0)
    base::throw_argument_error("a wait of ", seconds, " s cannot be; give 0 or more");
  World& world = get_world();
  get_owner(world).check("the communicator of the job", "work without it in this process");
  const std::scoped_lock lock(world.mutex.get());
  if (!world.comm) world.comm = make_world(seconds);
  return *world.comm;
}

}  // namespace plait
