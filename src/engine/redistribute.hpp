/// Moves arrays in memory from one layout into another.
#pragma once

#include <memory>
#include <span>

#include "engine/access.hpp"
#include "plait/layout.hpp"
#include "transport/transport.hpp"

namespace plait::engine {

/// One worker's part of a redistribution over a transport whose workers hold one rank each.
///
/// Pairwise rounds, first with the workers of this node by their distance there, then with those of other nodes by
/// theirs; pairs that have nothing in common are skipped.  Inside a node a message is packed into the sender's window,
/// where the receiver unpacks it; between nodes it is sent.  Messages are cut into windows. pre     prepare() is called
/// before the last agreement ahead of run().  What is referred to outlives the result. errors  kArgument: the memory is
/// too small, for two elements or for messages of half a million windows.
std::unique_ptr<Move> make_redistribution(const Layout& source, const LocalArray& from, const Layout& target,
                                          const LocalArray& to, std::int64_t element_bytes, std::int64_t memory_bytes,
                                          transport::Transport& transport);

/// The part of one target rank where all arrays are visible: copied straight from each source array.
/// threads  Different target ranks at once.
void gather_rank(const Layout& source, std::span<const LocalArray> from, const Layout& target, const LocalArray& to,
                 std::int64_t element_bytes);

}  // namespace plait::engine
