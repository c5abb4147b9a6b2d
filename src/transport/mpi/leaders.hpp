/// Communication between the leaders: the first process of each node.
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transport/mpi/liveness/notices.hpp"
#include "transport/transport.hpp"

namespace plait::transport::mpi {

/// The communication of the first process of a node with those of the other nodes, on the communicator of all
/// processes.
class Leaders {
 public:
  /// `ranks` are the first processes of all nodes; this process is number `index` of them.
  Leaders(MPI_Comm everyone, std::vector<int> ranks, int index, Notices& notices);

  /// Each value becomes the smallest value that any leader has passed.
  void reduce_min(std::span<std::int64_t> values);
  /// Copies any number of bytes of the first leader to all leaders.  If it throws, MPI may still access the bytes.
  void broadcast(std::span<std::byte> bytes);

 private:
  using Values = std::array<std::int64_t, Transport::kMaxValues>;
  struct Exchange {
    Values out{};
    Values in{};
  };

  MPI_Comm everyone_;
  std::vector<int> ranks_;
  int index_;
  Notices& notices_;
  // allocated beforehand: an agreement must not fail for lack of memory
  std::unique_ptr<Exchange> exchange_ = std::make_unique<Exchange>();
};

}  // namespace plait::transport::mpi
