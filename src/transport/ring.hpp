/// The order in which ranks exchange messages pairwise.
#pragma once

namespace plait::transport {

/// Returns the number of positions up a ring of `size` ranks from one rank to another.  If each rank communicates with
/// its partners in the order of this distance, no two ranks send to the same one at a time, and a rank waits only for
/// ranks at the same distance or a smaller one, so that there is no deadlock.
inline int ring_distance(int from, int to, int size) { return (to - from + size) % size; }

}  // namespace plait::transport
