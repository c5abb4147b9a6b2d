/// The order in which ranks exchange messages pairwise.
#pragma once

namespace plait::transport {

/// How many steps up a ring of `size` ranks lead from one to another.  Where each rank sends to, and receives from, its
/// partners by this distance, no two send to the same one at a time, and whoever waits waits for somebody at the same
/// distance or a smaller one: so nobody waits in a circle.
inline int ring_distance(int from, int to, int size) { return (to - from + size) % size; }

}  // namespace plait::transport
