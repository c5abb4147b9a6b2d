/// Agreements of processes by MPI, used before the node has shared memory.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "transport/shared_memory/meeting.hpp"

namespace plait::transport::mpi {

/// A meeting by collectives of MPI.
class FirstMeeting : public shared_memory::Meeting {
 public:
  FirstMeeting(MPI_Comm node, MPI_Comm everyone);
  int node_rank() const override { return rank_; }
  int node_size() const override { return size_; }
  void broadcast_from_first(std::span<std::byte> bytes) override;
  bool all_true(bool value) override;
  std::vector<std::int64_t> gather(std::int64_t value) override;
  void reduce_max(std::span<std::int64_t> values) override;

 private:
  MPI_Comm node_;
  MPI_Comm everyone_;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace plait::transport::mpi
