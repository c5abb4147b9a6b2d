/// One read of a segment that all workers need.
#pragma once

#include <cstddef>
#include <cstdint>

#include "store/store.hpp"
#include "transport/transport.hpp"

namespace plait::access {

/// Worker 0 reads the segment of the store, and `data` is filled on every worker.
///
/// Worker 0 fills two windows alternately, and the workers of its node copy from them.  One worker of each other node
/// receives each window in a broadcast and shares it with its node in the same way.  Collective over the transport,
/// with equal arguments except `data`.  Every worker calls collective::prepare() before the last agreement that
/// precedes this call.  Another agreement must follow before the windows are used again.
/// cost    At most `memory_bytes` bytes of windows (at least two of one byte each); one message per window and node.
/// errors  The store's errors on worker 0, thrown after the other workers have received all windows.  The ranks must
///         agree on the error before they use the data.
void read_same(transport::Transport& transport, store::Store& store, const store::ReadSegment& segment,
               std::int64_t memory_bytes);

}  // namespace plait::access
