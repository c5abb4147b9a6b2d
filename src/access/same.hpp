/// The same stretch of a store for all workers, read once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "store/store.hpp"
#include "transport/transport.hpp"

namespace plait::access {

/// Worker 0 reads the segment of the store; its `data` is filled on every worker.
///
/// Worker 0 fills two windows by turns and the workers of its node take what is in them; one worker of each other node
/// gets them in a broadcast and shows them to the workers beside it in the same way.
/// Collective over the transport, with equal arguments (`data` apart); prepare() comes before the last agreement ahead
/// of it.
/// cost    At most `memory_bytes` bytes of windows (at least two of one byte each); one message a window and node.
/// errors  Of worker 0: what the store throws, once the others have got all windows.  Agree on it before anything is
///         done with the data.
void read_same(transport::Transport& transport, store::Store& store, const store::ReadSegment& segment,
               std::int64_t memory_bytes);

}  // namespace plait::access
