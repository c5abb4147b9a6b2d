// Creating, finding and releasing the objects of the Fortran module's handles, and abandoning files that were not
// closed.

#include "handles.hpp"

#include <mpi.h>
#include <plait_mpi.h>

#include <cstdio>

#include "base/errors.hpp"
#include "mpi_world.hpp"
#include "objects.hpp"
#include "transport/mpi/finalize.hpp"

using plait::fortran::find;
using plait::fortran::make_handle;
using plait::fortran::release_handle;
using plait::fortran::Table;
using plait::fortran::Ticket;
using plait::transport::mpi::mpi_runs;

namespace {

/// Returns the consequence of not closing a file, for the warning.
const char* describe_loss(const plait::File& file) {
  if (file.mode() != plait::Mode::kWrite) return "what was written is perhaps not durable";
  return file.path().starts_with("pipe:") ? "its readers get an error" : "the new file is discarded";
}

void abandon_file(plait_file* handle) noexcept {
  const plait::File& file = *handle->file;
  if (file.is_open() && file.mode() != plait::Mode::kRead && handle->comm.rank() == 0)
    std::fprintf(stderr, "plait: %s was not closed, so %s; call plait_close\n", file.path().c_str(),
                 describe_loss(file));
  plait_abandon(&handle);
}

void abandon_files() noexcept {
  for (const auto& entry : Table<plait_file>::instance().take_all()) abandon_file(entry.second);
}

/// Releases the distant files that are open. Waits for the requests that this rank has started, but for no other rank.
void release_distant_files() noexcept {
  for (const auto& entry : Table<plait_dio>::instance().take_all()) {
    plait_dio* handle = entry.second;
    plait::c::free_handle(&handle);
  }
}

void at_exit() {
  abandon_files();
  release_distant_files();
}

/// Makes a handle by a call that is not collective.
template <typename Type, typename Make>
plait_status make_local_handle(Ticket* ticket, Make&& make) {
  *ticket = nullptr;
  const plait_status status = plait::c::guarded(nullptr, [] { Table<Type>::instance().reserve(); });
  return status == PLAIT_OK ? make_handle<Type>(ticket, make) : status;
}

}  // namespace

void plait::fortran::abandon_open_files_at_end() {
  static plait::transport::mpi::EndOfHandles end(at_exit, at_exit);
  end.watch();
}

extern "C" {

/// Returns the ranks of MPI_COMM_WORLD, which the primitives also use. Initialises MPI if necessary. Collective.
plait_status plait_fortran_world(Ticket* comm) {
  return make_local_handle<plait_comm>(comm, [](plait_comm** handle) {
    return plait::c::guarded(nullptr, [&] { *handle = new plait_comm(plait::c::world()); });
  });
}

plait_status plait_fortran_alone(Ticket* comm) {
  return make_local_handle<plait_comm>(comm, [](plait_comm** handle) {
    *handle = const_cast<plait_comm*>(plait_alone());
    return PLAIT_OK;
  });
}

plait_status plait_fortran_from_mpi(int communicator, Ticket* comm) {
  return make_local_handle<plait_comm>(
      comm, [&](plait_comm** handle) { return plait_comm_from_fortran(communicator, handle); });
}

/// Parses a layout; a negative number of dimensions means that no shape is given.
plait_status plait_fortran_parse(const char* text, int dimensions, const std::int64_t* shape, Ticket* layout) {
  return make_local_handle<plait_layout>(layout, [&](plait_layout** handle) {
    return dimensions < 0 ? plait_layout_parse(text, handle)
                          : plait_layout_parse_shape(text, dimensions, shape, handle);
  });
}

plait_comm* plait_fortran_comm(Ticket comm) { return find<plait_comm>(comm); }
plait_layout* plait_fortran_layout(Ticket layout) { return find<plait_layout>(layout); }
plait_file* plait_fortran_file(Ticket file) { return find<plait_file>(file); }
plait_request* plait_fortran_request(Ticket request) { return find<plait_request>(request); }
plait_dio* plait_fortran_found_dio(Ticket dio) { return find<plait_dio>(dio); }
plait_stream* plait_fortran_found_stream(Ticket stream) { return find<plait_stream>(stream); }

plait_status plait_fortran_comm_free(Ticket* comm) {
  return release_handle<plait_comm>(comm, "the communicator", plait_comm_free);
}
plait_status plait_fortran_layout_free(Ticket* layout) {
  return release_handle<plait_layout>(layout, "the layout", plait_layout_free);
}
plait_status plait_fortran_close(Ticket* file) { return release_handle<plait_file>(file, "the file", plait_close); }
plait_status plait_fortran_abandon(Ticket* file) { return release_handle<plait_file>(file, "the file", plait_abandon); }
plait_status plait_fortran_wait(Ticket* request) {
  return release_handle<plait_request>(request, "the request", plait_request_free);
}
plait_status plait_fortran_stream_close(Ticket* stream) {
  return release_handle<plait_stream>(stream, "the stream", plait_stream_close);
}

/// Makes an error of this rank alone, with the given text.
plait_status plait_fortran_fail(const char* message) {
  return plait::c::guarded(nullptr, [&] { plait::base::throw_argument_error(message); });
}

/// Prints an error if the caller does not take it. rank: the number of this process in a collective call, whose errors
/// rank 0 prints; -1 for other calls, whose errors every rank prints.
void plait_fortran_report(const char* message, int rank) {
  if (rank > 0) return;
  int mpi_rank = 0;
  if (rank < 0 && mpi_runs() && MPI_Comm_rank(MPI_COMM_WORLD, &mpi_rank) == MPI_SUCCESS)
    std::fprintf(stderr, "plait: rank %d: %s\n", mpi_rank, message);
  else
    std::fprintf(stderr, "plait: %s\n", message);
}

}  // extern "C"
