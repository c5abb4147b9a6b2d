/// A piece of memory that all processes of a node map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "transport/shared_area.hpp"
#include "transport/shared_memory/meeting.hpp"

namespace plait::transport::shared_memory {

/// POSIX shared memory whose name is gone before the constructor returns, so that nothing stays behind of a job that is
/// killed later.
class Segment {
 public:
  /// All zero at first.  Collective over the node, and failures are agreed over everyone.
  /// errors  kSystem, on everyone: no room, no shared memory.
  Segment(Meeting& meeting, std::int64_t bytes);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Maps a new area (shared_area.hpp) whose parts are `bytes` bytes long, each process its own number, and takes the
/// part of this one.  Collective over the node; failures are agreed over everyone.  `group` names the processes of the
/// node.
/// errors  kSystem, on everyone: no room, no shared memory.
std::unique_ptr<SharedPart> share(Meeting& meeting, std::int64_t bytes, std::int64_t group);

}  // namespace plait::transport::shared_memory
