/// Notices when a process of the node has ended.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "transport/gates.hpp"
#include "transport/mpi/losses.hpp"

namespace plait::transport::mpi {

/// Holds a process descriptor for each peer, one for all communicators; where the kernel offers none, a peer that ends
/// is not noticed here.
class PeerLiveness : public Liveness {
 public:
  /// Collective over `node`; `workers` are the numbers to name in errors.  `losses`: of other nodes,
  /// or none.
  PeerLiveness(MPI_Comm node, std::vector<int> workers, std::shared_ptr<Losses> losses);
  void check() override;

 private:
  std::vector<int> workers_;
  std::shared_ptr<Losses> losses_;
  std::vector<std::shared_ptr<const int>> descriptors_;
};

}  // namespace plait::transport::mpi
