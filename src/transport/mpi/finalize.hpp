/// Whether MPI works; runs the endings (transport/ending.hpp) when the program calls MPI_Finalize.
#pragma once

namespace plait::transport::mpi {

/// From the first call on, MPI_Finalize first waits until no thread is inside MPI through call()
/// (transport/call_gate.hpp), then runs the endings as it deletes the attributes of MPI_COMM_SELF, while MPI works, and
/// then makes call() fail.  Each call includes objects that have been loaded since the one before.  Not collective.
/// threads  Any.
/// errors  kSystem: MPI fails.
void watch_finalize();

/// Whether MPI is initialised and not finalised.
bool mpi_runs();

/// What a language's handles end with: MPI_Finalize or the end of the program, whichever comes first.
class EndOfHandles {
 public:
  /// `at_finalize` is called in MPI_Finalize, while MPI works; `at_exit` by std::exit, whether MPI works or not.
  EndOfHandles(void (*at_finalize)(), void (*at_exit)()) : at_finalize_(at_finalize), at_exit_(at_exit) {}
  /// Begins, where it has not begun.  Call it whenever a handle is made, for MPI may have been initialised since.
  void watch();

 private:
  void (*at_finalize_)();
  void (*at_exit_)();
  bool exit_is_watched_ = false;
  bool finalize_is_watched_ = false;
};

}  // namespace plait::transport::mpi
