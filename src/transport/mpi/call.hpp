/// Calls of MPI: all but those that are allowed before MPI_Init and after MPI_Finalize go through call().
#pragma once

#include <type_traits>

#include "transport/call_gate.hpp"

namespace plait::transport::mpi {

/// What call() returns after the end of MPI.  MPI has no negative codes.
inline constexpr int kMpiHasEnded = -1;

/// Calls a function of MPI while the gate lets this thread in, and returns its code, for check().
template <typename... Parameters>
int call(int (*function)(Parameters...), std::type_identity_t<Parameters>... arguments) {
  if (!CallGate::instance().enter()) return kMpiHasEnded;
  const int code = function(arguments...);  // throws nothing: it is C
  CallGate::instance().leave();
  return code;
}

}  // namespace plait::transport::mpi
