/// The interface through which processes agree while they create shared memory of a node.  It is implemented by MPI's
/// collectives before the node shares any memory (mpi/first_meeting.hpp), and by shared memory later
/// (group_meeting.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace plait::transport::shared_memory {

/// Every function is collective over the node, or over all processes.
/// errors  kSystem: the messages fail, or a process has ended or left.
class Meeting {
 public:
  virtual ~Meeting() = default;
  virtual int node_rank() const = 0;
  virtual int node_size() const = 0;
  /// Copies bytes of the node's first process to all processes of the node.
  virtual void broadcast_from_first(std::span<std::byte> bytes) = 0;
  /// Returns true if all processes of the node pass true.
  virtual bool all_true(bool value) = 0;
  /// Returns the values of all processes of the node.
  virtual std::vector<std::int64_t> gather(std::int64_t value) = 0;
  /// Each value becomes the largest value that any process, of all nodes, has passed.
  virtual void reduce_max(std::span<std::int64_t> values) = 0;
};

}  // namespace plait::transport::shared_memory
