#include "transport/mpi/topology.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>

#include "transport/mpi/check.hpp"
#include "transport/node/peers.hpp"

namespace plait::transport::mpi {

namespace {

std::vector<int> all_of(MPI_Comm comm, int mine, int size) {
  std::vector<int> found(static_cast<std::size_t>(size));
  check(MPI_Allgather(&mine, 1, MPI_INT, found.data(), 1, MPI_INT, comm), "MPI_Allgather");
  return found;
}

}  // namespace

Topology::Topology(MPI_Comm everyone) {
  int rank = 0;
  check(MPI_Comm_rank(everyone, &rank), "MPI_Comm_rank");
  OwnComm whole;
  check(MPI_Comm_split_type(everyone, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, whole.out()), "MPI_Comm_split_type");
  static std::atomic<std::int64_t> made{0};
  const char* setting = std::getenv("PLAIT_NODE_SIZE");
  std::array<std::int64_t, 2> told{setting != nullptr ? std::atoi(setting) : 0,
                                   node::hash_of(std::array<std::int64_t, 2>{::getpid(), ++made})};
  check(MPI_Bcast(told.data(), 2, MPI_INT64_T, 0, everyone), "MPI_Bcast");
  cookie = told[1];
  int index = 0;
  check(MPI_Comm_rank(whole.get(), &index), "MPI_Comm_rank");
  const int most = static_cast<int>(told[0]);
  check(MPI_Comm_split(whole.get(), most > 0 ? index / most : 0, rank, node.out()), "MPI_Comm_split");
  check(MPI_Comm_rank(node.get(), &node_rank), "MPI_Comm_rank");
  check(MPI_Comm_size(node.get(), &node_size), "MPI_Comm_size");
  workers = all_of(node.get(), rank, node_size);

  std::vector<std::int64_t> processes;
  for (const int process : all_of(node.get(), ::getpid(), node_size)) processes.push_back(process);
  std::sort(processes.begin(), processes.end());
  node_group = node::hash_of(processes);

  OwnComm heads;
  check(MPI_Comm_split(everyone, node_rank == 0 ? 0 : MPI_UNDEFINED, rank, heads.out()), "MPI_Comm_split");
  if (node_rank == 0) {
    int nodes = 1;
    check(MPI_Comm_rank(heads.get(), &leader_index), "MPI_Comm_rank");
    check(MPI_Comm_size(heads.get(), &nodes), "MPI_Comm_size");
    leaders = all_of(heads.get(), rank, nodes);
  }

  int level = MPI_THREAD_SINGLE;
  check(MPI_Query_thread(&level), "MPI_Query_thread");
  check(MPI_Allreduce(MPI_IN_PLACE, &level, 1, MPI_INT, MPI_MIN, everyone), "MPI_Allreduce");
  threads = level >= MPI_THREAD_MULTIPLE;
}

}  // namespace plait::transport::mpi
