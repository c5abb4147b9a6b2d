/// Windows and counters that the processes of a node create in shared memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "transport/counter.hpp"
#include "transport/shared_memory/meeting.hpp"
#include "transport/shared_memory/segment.hpp"
#include "transport/transport.hpp"

namespace plait::transport::shared_memory {

class Windows : public SharedWindows {
 public:
  Windows(Meeting& meeting, std::int64_t bytes) : segment_(meeting, bytes * meeting.node_size()), bytes_(bytes) {}
  std::byte* part(int node_rank) const override { return segment_.data() + node_rank * bytes_; }
  std::int64_t bytes() const override { return bytes_; }

 private:
  Segment segment_;
  std::int64_t bytes_;
};

/// Makes `windows` have at least `bytes` bytes for each process, by creating larger ones if necessary, and returns
/// them.  Collective over the node.
/// errors  as Segment
Windows& ensure_windows(std::unique_ptr<Windows>& windows, Meeting& meeting, std::int64_t bytes);

/// Creates a counter that the processes of a node share.  Collective over the node.
/// errors  as Segment
std::unique_ptr<Counter> make_counter(Meeting& meeting);

}  // namespace plait::transport::shared_memory
