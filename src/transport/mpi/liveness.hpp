/// Notices when a process of the node has ended.
#pragma once

#include <mpi.h>

#include <vector>

#include "transport/gates.hpp"

namespace plait::transport::mpi {

/// Holds a process descriptor for each peer; where the kernel offers none, a peer that ends is not noticed here.
class PeerLiveness : public Liveness {
 public:
  /// Collective over `node`; `workers` are the numbers to name in errors.
  PeerLiveness(MPI_Comm node, std::vector<int> workers);
  ~PeerLiveness() override;
  PeerLiveness(const PeerLiveness&) = delete;
  PeerLiveness& operator=(const PeerLiveness&) = delete;
  void check() override;

 private:
  std::vector<int> workers_;
  std::vector<int> descriptors_;
};

}  // namespace plait::transport::mpi
