/// A communicator that Plait has created.
#pragma once

#include <mpi.h>

#include "transport/mpi/call.hpp"

namespace plait::transport::mpi {

/// Frees the communicator, unless MPI has ended or keep() was called.
class OwnComm {
 public:
  OwnComm() = default;
  ~OwnComm() {
    int ended = 0;
    if (comm_ != MPI_COMM_NULL && MPI_Finalized(&ended) == MPI_SUCCESS && ended == 0) call(MPI_Comm_free, &comm_);
  }
  OwnComm(const OwnComm&) = delete;
  OwnComm& operator=(const OwnComm&) = delete;
  /// Leaks the communicator, because messages may be under way that are never received: MPICH aborts a program that
  /// frees a communicator then.
  void keep() { comm_ = MPI_COMM_NULL; }
  MPI_Comm get() const { return comm_; }
  /// Returns the address to which MPI writes a new communicator.
  MPI_Comm* out() { return &comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace plait::transport::mpi
