/// Which processes share memory.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "plait/index_set.hpp"
#include "transport/mpi/own_comm.hpp"

namespace plait::transport::mpi {

/// The node of this process, and what all processes settle when a communicator is set up.
struct Topology {
  /// Collective over `everyone`.  PLAIT_NODE_SIZE of process 0 limits the nodes.
  explicit Topology(MPI_Comm everyone);

  OwnComm node;  ///< only for as long as this is
  int node_rank = 0;
  int node_size = 1;
  std::vector<int> workers;     ///< of the node, ascending
  std::int64_t node_group = 0;  ///< the same for every communicator of the same processes
  /// The ranks of each node, in order of their first ones; null where there is only one.
  std::shared_ptr<const std::vector<IndexSet>> nodes;
  std::vector<int> leaders;  ///< the first process of each node, on these
  int leader_index = -1;     ///< of this process among them
  bool threads = false;      ///< whether MPI runs with MPI_THREAD_MULTIPLE on all
  std::int64_t cookie = 0;   ///< the same on all, and another one for each communicator
};

}  // namespace plait::transport::mpi
