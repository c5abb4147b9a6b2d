/// Notices when a process of the node has ended.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "transport/gates.hpp"

namespace plait::transport::mpi {

/// Holds a process descriptor for each peer, one for all communicators; where the kernel offers none, a peer that ends
/// is not noticed here.
class PeerLiveness : public Liveness {
 public:
  /// Collective over `node`; `workers` are the numbers to name in errors.
  PeerLiveness(MPI_Comm node, std::vector<int> workers);
  void check() override;

 private:
  std::vector<int> workers_;
  std::vector<std::shared_ptr<const int>> descriptors_;
};

}  // namespace plait::transport::mpi
