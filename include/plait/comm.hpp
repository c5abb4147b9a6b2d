/// Communicators: the processes that take part in collective calls on files and redistributions.
#pragma once

#include <memory>

namespace plait {

namespace transport {
class Transport;
}
namespace core {
class Worker;
}

/// One process alone, or the processes of an MPI communicator (plait/mpi.hpp).  Copies are the same Comm.  All
/// collectives on one Comm, of all its files, are carried out in the order in which they were called or started.
class Comm {
 public:
  /// This process alone, which holds the parts of all ranks of a layout and moves them with several threads.
  Comm() = default;
  explicit Comm(std::shared_ptr<transport::Transport> transport);

  bool alone() const { return state_ == nullptr; }
  int rank() const;
  int size() const;
  /// Internal.  Processes that are alone have one of one rank for all such Comms; only calls that take turns use it.
  transport::Transport* transport() const;
  /// Internal: what carries out nonblocking calls.
  std::shared_ptr<core::Worker> worker() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace plait
