/// Determines whether MPI runs, and runs the callbacks of transport/ending.hpp in MPI_Finalize.
#pragma once

namespace plait::transport::mpi {

/// Changes what MPI_Finalize does.  First it waits until no thread is inside call() (transport/call_gate.hpp).  Then,
/// while it deletes the attributes of MPI_COMM_SELF and MPI still works, it runs the callbacks of transport/ending.hpp.
/// Then it makes call() fail.  Each further call of watch_finalize() also covers shared libraries that were loaded
/// since the previous one.  Not collective.
/// threads  Any.
/// errors  kSystem: MPI fails.
void watch_finalize();

/// Returns true if MPI is initialised and not finalised.
bool mpi_runs();

/// Frees the handles of a language binding in MPI_Finalize or at the end of the program, whichever comes first.
class EndOfHandles {
 public:
  /// `at_finalize` is called in MPI_Finalize, while MPI works; `at_exit` by std::exit, whether MPI works or not.
  EndOfHandles(void (*at_finalize)(), void (*at_exit)()) : at_finalize_(at_finalize), at_exit_(at_exit) {}
  /// Registers the callbacks that are not registered yet.  Call it whenever a handle is made, because MPI may have been
  /// initialised since the last call.
  void watch();

 private:
  void (*at_finalize_)();
  void (*at_exit_)();
  bool exit_is_watched_ = false;
  bool finalize_is_watched_ = false;
};

}  // namespace plait::transport::mpi
