/// The order in which ranks exchange messages pairwise.
#pragma once

namespace plait::transport {

/// Returns the distance from one rank to another in ascending direction on a ring of `size` ranks; of 4 ranks, from 3
/// to 1 it is 2.  If each rank communicates with its partners in the order of this distance, no two ranks send to the
/// same rank at a time, and a rank waits only for ranks at the same distance or a smaller one, so there is no deadlock.
inline int ring_distance(int from, int to, int size) { return (to - from + size) % size; }

}  // namespace plait::transport
