// Two mechanisms change MPI_Finalize. Calls of MPI_Finalize in all loaded objects are redirected to finalize(), which
// pauses the call gate. Attributes of MPI_COMM_SELF have delete callbacks, which MPI_Finalize calls: on_begin() lets
// threads in one at a time, and on_finalize() runs the callbacks of transport/ending.hpp.

#include "transport/mpi/finalize.hpp"

#include <mpi.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "base/linker/imports.hpp"
#include "base/process.hpp"
#include "transport/ending.hpp"
#include "transport/mpi/call.hpp"
#include "transport/mpi/check.hpp"

namespace plait::transport::mpi {

namespace {

using Finalize = int (*)();

/// The state of watch_finalize().
struct FinalizeWatch {
  const base::Owner owner;  // a forked child does not take part in the end of MPI
  // The functions to which the dynamic linker resolved this library's calls: those of MPI or of a tool loaded earlier.
  const Finalize finalize = MPI_Finalize;
  const Finalize profiled_finalize = PMPI_Finalize;
  std::mutex mutex;  // held by watch_finalize()
  bool has_attributes = false;
  int first_key = MPI_KEYVAL_INVALID;     // the key of the attribute that MPI_Finalize deletes first
  unsigned long long loaded_objects = 0;  // number of objects at the last redirect_finalize()
  std::atomic<bool> is_finalizing = false;
};

/// The state is never destroyed, because MPI may end after the destruction of static objects.
FinalizeWatch& finalize_watch() {
  static auto* const watch = new FinalizeWatch;
  return *watch;
}

int on_begin(MPI_Comm /*communicator*/, int /*key*/, void* /*value*/, void* /*state*/) {
  if (finalize_watch().owner.here()) CallGate::instance().serialize();
  return MPI_SUCCESS;
}

int on_finalize(MPI_Comm /*communicator*/, int /*key*/, void* /*value*/, void* /*state*/) {
  if (!finalize_watch().owner.here()) return MPI_SUCCESS;
  CallGate& gate = CallGate::instance();
  gate.serialize();
  run_endings();
  gate.close();
  return MPI_SUCCESS;
}

/// Pauses the gate, so that no thread is inside call(), and calls `next`, the original MPI_Finalize or PMPI_Finalize.
int finalize_through(Finalize next) {
  FinalizeWatch& watch = finalize_watch();
  // Do nothing else in a nested call: the MPI_Finalize of a tool calls PMPI_Finalize, which is redirected here too.
  if (!watch.owner.here() || !mpi_runs() || CallGate::is_inside() || watch.is_finalizing.exchange(true)) return next();
  // MPI deletes attributes in reverse order.  Set this one last, so that on_begin() runs first and opens the gate:
  // callbacks of the program may use Plait.
  if (watch.first_key != MPI_KEYVAL_INVALID) call(MPI_Comm_set_attr, MPI_COMM_SELF, watch.first_key, nullptr);
  CallGate::instance().pause();
  const int code = next();
  CallGate::instance().resume();  // MPI still runs if a session is open
  watch.is_finalizing = false;
  return code;
}

int finalize() { return finalize_through(finalize_watch().finalize); }
int profiled_finalize() { return finalize_through(finalize_watch().profiled_finalize); }

/// Redirects calls of MPI_Finalize and PMPI_Finalize in all loaded objects, if any was loaded since the previous call.
void redirect_finalize() {
  FinalizeWatch& watch = finalize_watch();
  const auto loaded = base::loaded_objects();
  if (loaded == watch.loaded_objects) return;
  base::redirect_imports("MPI_Finalize", reinterpret_cast<void (*)()>(watch.finalize),
                         reinterpret_cast<void (*)()>(finalize));
  base::redirect_imports("PMPI_Finalize", reinterpret_cast<void (*)()>(watch.profiled_finalize),
                         reinterpret_cast<void (*)()>(profiled_finalize));
  watch.loaded_objects = loaded;
}

}  // namespace

void watch_finalize() {
  FinalizeWatch& watch = finalize_watch();
  const std::scoped_lock lock(watch.mutex);
  redirect_finalize();
  if (watch.has_attributes) return;
  const auto make_key = [](MPI_Comm_delete_attr_function* callback) {
    int key = MPI_KEYVAL_INVALID;
    check(call(MPI_Comm_create_keyval, MPI_COMM_NULL_COPY_FN, callback, &key, nullptr), "MPI_Comm_create_keyval");
    return key;
  };
  int key = make_key(on_finalize);
  check(call(MPI_Comm_set_attr, MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
  check(call(MPI_Comm_free_keyval, &key), "MPI_Comm_free_keyval");
  watch.first_key = make_key(on_begin);  // finalize_through() sets the attribute
  watch.has_attributes = true;
}

bool mpi_runs() {
  int started = 0;
  int ended = 0;
  return MPI_Initialized(&started) == MPI_SUCCESS && started != 0 && MPI_Finalized(&ended) == MPI_SUCCESS && ended == 0;
}

void EndOfHandles::watch() {
  // std::exit runs callbacks in reverse order. If Plait initialised MPI, it has registered MPI_Finalize before this
  // callback, so at_exit_ runs while MPI still works.
  if (!exit_is_watched_) exit_is_watched_ = std::atexit(at_exit_) == 0;
  if (finalize_is_watched_ || !mpi_runs()) return;
  watch_finalize();
  at_ending(EndingStage::kFiles, at_finalize_);
  finalize_is_watched_ = true;
}

}  // namespace plait::transport::mpi
