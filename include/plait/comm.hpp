/// Who takes part in a collective: a value that files and redistributions are opened with.
#pragma once

#include <memory>

namespace plait {

namespace transport {
class Transport;
}

/// One process alone, or the processes of an MPI communicator (plait/mpi.hpp).
class Comm {
 public:
  /// One process, which holds all ranks of any layout and moves them on as many threads as help.
  Comm() = default;
  explicit Comm(std::shared_ptr<transport::Transport> transport) : transport_(std::move(transport)) {}

  bool alone() const { return transport_ == nullptr; }
  int rank() const;
  int size() const;
  /// Internal.
  transport::Transport* transport() const { return transport_.get(); }

 private:
  std::shared_ptr<transport::Transport> transport_;
};

}  // namespace plait
