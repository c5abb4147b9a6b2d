/// How processes agree while they make something that those of a node share.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace plait::transport::shared_memory {

/// Every function is collective: over the node, or everyone.
/// errors  kSystem: what carries the messages fails, or a process has ended or left.
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

}  // namespace plait::transport::shared_memory
