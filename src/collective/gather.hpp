/// Texts of any length between ranks.
#pragma once

#include <climits>
#include <cstdint>
#include <string>
#include <vector>

#include "base/function_ref.hpp"
#include "transport/transport.hpp"

namespace plait::collective {

/// Each rank makes its text where the exchange begins, so that one that cannot make it brings its error there.
using MakeText = base::FunctionRef<std::string()>;

/// Of the ranks that are multiples of `stride`, groups of `members` that follow each other.
struct RankGroups {
  int stride = 1;
  int members = INT_MAX;
  bool has(int rank) const { return rank % stride == 0; }
  /// The first rank of the group of one that is in any.
  int first(int rank) const { return static_cast<int>(rank - rank % (std::int64_t{stride} * members)); }
};

/// What each rank of a group says, on its first rank, ascending; empty on all others.  Collective over all ranks.
/// cost    A message a rank, all to the first one of its group, and three reductions.
/// errors  The same on all ranks.
std::vector<std::string> gather(transport::Transport& transport, MakeText make, RankGroups groups = {});
/// What each rank says, on all ranks.  Collective.
/// errors  The same on all ranks.
std::vector<std::string> gather_to_all(transport::Transport& transport, MakeText make);
/// What rank 0 says, for all.  Collective.
/// errors  The same on all ranks.
std::string tell(transport::Transport& transport, MakeText make);

}  // namespace plait::collective
