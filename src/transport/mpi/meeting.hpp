/// How processes agree while they make something that those of a node share.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

namespace plait::transport::mpi {

/// Every function is collective: over the node, or everyone.
/// errors  kSystem: MPI fails, or a process has ended or left.
class Meeting {
 public:
  virtual ~Meeting() = default;
  virtual int node_rank() const = 0;
  virtual int node_size() const = 0;
  /// Everyone of the node gets the bytes of its first process.
  virtual void from_first(std::span<std::byte> bytes) = 0;
  /// Whether all of the node say yes.
  virtual bool all(bool mine) = 0;
  /// What each of the node gives.
  virtual std::vector<std::int64_t> gather(std::int64_t mine) = 0;
  /// Each value becomes the largest that anybody gave.
  virtual void largest(std::span<std::int64_t> values) = 0;
};

/// By MPI's collectives: until there is memory that the node shares.
class FirstMeeting : public Meeting {
 public:
  FirstMeeting(MPI_Comm node, MPI_Comm everyone);
  int node_rank() const override { return rank_; }
  int node_size() const override { return size_; }
  void from_first(std::span<std::byte> bytes) override;
  bool all(bool mine) override;
  std::vector<std::int64_t> gather(std::int64_t mine) override;
  void largest(std::span<std::int64_t> values) override;

 private:
  MPI_Comm node_;
  MPI_Comm everyone_;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace plait::transport::mpi
