/// Memory that all processes of a node map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "transport/shared_area.hpp"
#include "transport/shared_memory/meeting.hpp"

namespace plait::transport::shared_memory {

/// POSIX shared memory whose name is removed before the constructor returns, so that a job that is killed later leaves
/// nothing.
class Segment {
 public:
  /// Creates the memory, all zero.  Collective over the node; failures are agreed on by all processes.
  /// errors  kSystem, on all: no space, no shared memory.
  Segment(Meeting& meeting, std::int64_t bytes);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Maps a new area (shared_area.hpp) for local arrays, and returns the part of this process, which has `bytes` bytes;
/// the sizes may differ between processes.  `group` identifies the processes of the node (SharedAddress::group).
/// Collective over the node; failures are agreed on by all processes.
/// errors  kSystem, on all: no space, no shared memory.
std::unique_ptr<SharedPart> share(Meeting& meeting, std::int64_t bytes, std::int64_t group);

}  // namespace plait::transport::shared_memory
