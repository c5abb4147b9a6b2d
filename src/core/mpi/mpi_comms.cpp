// Comms of MPI communicators.
//
// A Comm is cached as an attribute of its MPI communicator, so that a second make_comm() costs no collective. MPI calls
// delete_holder() when the program frees the communicator. When the process ends, Comms must be destroyed while MPI
// still works, so release_comms() runs in MPI_Finalize (EndingStage::kThreads). It empties the holders, which MPI
// deletes later.

#include "core/mpi/mpi_comms.hpp"

#include <mpi.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "core/comm/internals.hpp"
#include "plait/mpi.hpp"
#include "transport/ending.hpp"
#include "transport/mpi/call.hpp"
#include "transport/mpi/check.hpp"
#include "transport/mpi/mpi_transport.hpp"

namespace plait {

namespace {

using transport::mpi::call;
using transport::mpi::check;

/// The value of an attribute of an MPI communicator, which deletes it when the communicator is freed.
struct Holder {
  Comm comm;
};

/// All holders of this process, and the key of the attribute.
struct Holders {
  std::mutex mutex;
  std::set<Holder*> all;
  int key = MPI_KEYVAL_INVALID;
};

Holders& holders() {
  static auto* const instance = new Holders;
  return *instance;
}

/// Callback of MPI, which calls it when a communicator with a holder is freed.
int delete_holder(MPI_Comm /*communicator*/, int /*key*/, void* value, void* /*state*/) {
  auto* const holder = static_cast<Holder*>(value);
  {
    const std::scoped_lock lock(holders().mutex);
    holders().all.erase(holder);
  }
  delete holder;
  return MPI_SUCCESS;
}

/// Returns the key of the attribute, which the first call creates.
int get_holder_key() {
  const std::scoped_lock lock(holders().mutex);
  int& key = holders().key;
  if (key == MPI_KEYVAL_INVALID) {
    check(call(MPI_Comm_create_keyval, MPI_COMM_NULL_COPY_FN, delete_holder, &key, nullptr), "MPI_Comm_create_keyval");
    transport::at_ending(transport::EndingStage::kThreads, core::release_comms);
  }
  return key;
}

}  // namespace

Comm make_comm(MPI_Comm communicator) {
  transport::mpi::check_running();
  const int key = get_holder_key();
  Holder* holder = nullptr;
  int found = 0;
  check(call(MPI_Comm_get_attr, communicator, key, static_cast<void*>(&holder), &found), "MPI_Comm_get_attr");
  if (found != 0 && !holder->comm.alone()) return holder->comm;
  Comm comm = core::comm_over(transport::mpi::make_transport(communicator));
  if (found == 0) {
    holder = new Holder;
    check(call(MPI_Comm_set_attr, communicator, key, holder), "MPI_Comm_set_attr");
  }
  const std::scoped_lock lock(holders().mutex);
  holders().all.insert(holder);
  holder->comm = comm;
  return comm;
}

void core::release_comms() noexcept {
  while (true) {
    Comm released;  // destroyed after the lock is released, because its destructor waits for started calls
    const std::scoped_lock lock(holders().mutex);
    const auto found = std::ranges::find_if(holders().all, [](const Holder* holder) { return !holder->comm.alone(); });
    if (found == holders().all.end()) return;
    released = std::exchange((*found)->comm, Comm());
  }
}

}  // namespace plait
