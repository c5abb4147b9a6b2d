/// What the first processes of all nodes do together.
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

/// Of one communicator, on the first process of a node.  Needs no communicator of its own.
class Leaders {
 public:
  /// The first process of each node, this one is number `index`.
  Leaders(MPI_Comm everyone, std::vector<int> ranks, int index, Notices& notices);

  /// Each value becomes the smallest that any of them gave.
  void reduce_min(std::span<std::int64_t> values);
  /// Bytes of the first of them, any number, to all of them.  Where it throws, MPI may still touch them.
  void broadcast(std::span<std::byte> bytes);

 private:
  using Values = std::array<std::int64_t, Transport::kMostValues>;
  struct Step {
    Values out{};
    Values in{};
  };

  MPI_Comm everyone_;
  std::vector<int> ranks_;
  int index_;
  Notices& notices_;
  std::unique_ptr<Step> step_ = std::make_unique<Step>();  // beforehand: an agreement must not fail for want of memory
};

}  // namespace plait::transport::mpi
