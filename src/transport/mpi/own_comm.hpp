/// A communicator of ours.
#pragma once

#include <mpi.h>

#include "transport/mpi/call.hpp"

namespace plait::transport::mpi {

/// Freed unless MPI has ended already, or somebody may still send something that nobody takes: MPICH ends a program
/// that frees a communicator then.
class OwnComm {
 public:
  OwnComm() = default;
  ~OwnComm() {
    int ended = 0;
    if (comm_ != MPI_COMM_NULL && MPI_Finalized(&ended) == MPI_SUCCESS && ended == 0) call(MPI_Comm_free, &comm_);
  }
  OwnComm(const OwnComm&) = delete;
  OwnComm& operator=(const OwnComm&) = delete;
  void keep() { comm_ = MPI_COMM_NULL; }
  MPI_Comm get() const { return comm_; }
  MPI_Comm* out() { return &comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace plait::transport::mpi
