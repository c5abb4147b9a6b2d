/// Calls of MPI.  All go through call(), except functions that MPI allows before MPI_Init and after MPI_Finalize.
#pragma once

#include <type_traits>

#include "transport/call_gate.hpp"

namespace plait::transport::mpi {

/// The code that call() returns after MPI has ended.  Codes of MPI itself are never negative.
inline constexpr int kMpiHasEnded = -1;

/// Waits until the gate (call_gate.hpp) lets this thread in, calls a function of MPI and returns its code.  Pass the
/// code to check().
template <typename... Parameters>
int call(int (*function)(Parameters...), std::type_identity_t<Parameters>... arguments) {
  if (!CallGate::instance().enter()) return kMpiHasEnded;
  const int code = function(arguments...);  // cannot throw: it is a C function
  CallGate::instance().leave();
  return code;
}

}  // namespace plait::transport::mpi
