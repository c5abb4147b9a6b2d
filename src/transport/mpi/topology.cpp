#include "transport/mpi/topology.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <map>
#include <utility>

#include "transport/mpi/call.hpp"
#include "transport/mpi/check.hpp"
#include "transport/shared_memory/peers.hpp"

namespace plait::transport::mpi {

namespace {

std::vector<int> allgather(MPI_Comm comm, int value, int size) {
  std::vector<int> values(static_cast<std::size_t>(size));
  check(call(MPI_Allgather, &value, 1, MPI_INT, values.data(), 1, MPI_INT, comm), "MPI_Allgather");
  return values;
}

/// Groups ranks by the first rank of their node.
std::vector<IndexSet> group_nodes(const std::vector<int>& first_of_node) {
  std::map<int, std::vector<Run>> runs;
  for (std::size_t rank = 0; rank < first_of_node.size(); ++rank) {
    std::vector<Run>& runs_of_node = runs[first_of_node[rank]];
    const auto number = static_cast<std::int64_t>(rank);
    if (!runs_of_node.empty() && runs_of_node.back().begin + runs_of_node.back().length == number) {
      ++runs_of_node.back().length;
    } else {
      runs_of_node.push_back({number, 1});
    }
  }
  std::vector<IndexSet> nodes;
  for (auto& [first, runs_of_node] : runs) nodes.push_back(IndexSet::of_runs(std::move(runs_of_node)));
  return nodes;
}

}  // namespace

Topology::Topology(MPI_Comm everyone) {
  int rank = 0;
  check(call(MPI_Comm_rank, everyone, &rank), "MPI_Comm_rank");
  OwnComm full_node;
  check(call(MPI_Comm_split_type, everyone, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, full_node.out()),
        "MPI_Comm_split_type");
  static std::atomic<std::int64_t> counter{0};
  const char* setting = std::getenv("PLAIT_NODE_SIZE");
  // The maximum node size, and the cookie.
  std::array<std::int64_t, 2> of_process_0{
      setting != nullptr ? std::atoi(setting) : 0,
      shared_memory::hash_numbers(std::array<std::int64_t, 2>{::getpid(), ++counter})};
  check(call(MPI_Bcast, of_process_0.data(), 2, MPI_INT64_T, 0, everyone), "MPI_Bcast");
  cookie = of_process_0[1];
  int index = 0;
  check(call(MPI_Comm_rank, full_node.get(), &index), "MPI_Comm_rank");
  const int max_node_size = static_cast<int>(of_process_0[0]);
  check(call(MPI_Comm_split, full_node.get(), max_node_size > 0 ? index / max_node_size : 0, rank, node.out()),
        "MPI_Comm_split");
  check(call(MPI_Comm_rank, node.get(), &node_rank), "MPI_Comm_rank");
  check(call(MPI_Comm_size, node.get(), &node_size), "MPI_Comm_size");
  workers = allgather(node.get(), rank, node_size);
  int size = 0;
  check(call(MPI_Comm_size, everyone, &size), "MPI_Comm_size");
  if (node_size != size)
    nodes = std::make_shared<const std::vector<IndexSet>>(group_nodes(allgather(everyone, workers.front(), size)));

  std::vector<std::int64_t> processes;
  for (const int process : allgather(node.get(), ::getpid(), node_size)) processes.push_back(process);
  std::sort(processes.begin(), processes.end());
  node_group = shared_memory::hash_numbers(processes);

  OwnComm leaders_comm;
  check(call(MPI_Comm_split, everyone, node_rank == 0 ? 0 : MPI_UNDEFINED, rank, leaders_comm.out()), "MPI_Comm_split");
  if (node_rank == 0) {
    int count = 1;
    check(call(MPI_Comm_rank, leaders_comm.get(), &leader_index), "MPI_Comm_rank");
    check(call(MPI_Comm_size, leaders_comm.get(), &count), "MPI_Comm_size");
    leaders = allgather(leaders_comm.get(), rank, count);
  }

  int level = MPI_THREAD_SINGLE;
  check(call(MPI_Query_thread, &level), "MPI_Query_thread");
  check(call(MPI_Allreduce, MPI_IN_PLACE, &level, 1, MPI_INT, MPI_MIN, everyone), "MPI_Allreduce");
  is_thread_multiple = level >= MPI_THREAD_MULTIPLE;
}

}  // namespace plait::transport::mpi
