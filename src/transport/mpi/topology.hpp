/// Determines which processes share memory.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "plait/index_set.hpp"
#include "transport/mpi/own_comm.hpp"

namespace plait::transport::mpi {

/// The node of this process, and values on which all processes agree when a communicator is set up.
struct Topology {
  /// Collective over `everyone`.  If process 0 has the environment variable PLAIT_NODE_SIZE, nodes are divided into
  /// nodes of at most that many processes, for tests.
  explicit Topology(MPI_Comm everyone);

  OwnComm node;  ///< valid only as long as this object
  int node_rank = 0;
  int node_size = 1;
  std::vector<int> workers;     ///< ranks on the node, ascending
  std::int64_t node_group = 0;  ///< the same for every communicator of the same processes
  /// The ranks of each node, ordered by their first ranks; null if there is only one node.
  std::shared_ptr<const std::vector<IndexSet>> nodes;
  std::vector<int> leaders;         ///< the first process of each node, set on these processes only
  int leader_index = -1;            ///< index of this process among them
  bool is_thread_multiple = false;  ///< MPI runs with MPI_THREAD_MULTIPLE on all processes
  std::int64_t cookie = 0;          ///< the same on all processes, different for each communicator
};

}  // namespace plait::transport::mpi
