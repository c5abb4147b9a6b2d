/// Collects texts of any length from ranks.
#pragma once

#include <climits>
#include <cstdint>
#include <string>
#include <vector>

#include "base/function_ref.hpp"
#include "transport/transport.hpp"

namespace plait::collective {

/// Composes the text of a rank.  It is called inside the exchange, so that its error becomes an error of all ranks.
using MakeText = base::FunctionRef<std::string()>;

/// Divides the ranks that are multiples of `stride` into groups of `members` consecutive ones.  Other ranks are in no
/// group.  Example: stride 2 and members 2 make the groups {0, 2}, {4, 6} and so on.
struct RankGroups {
  int stride = 1;
  int members = INT_MAX;
  /// Returns true if a rank is in a group.
  bool has(int rank) const { return rank % stride == 0; }
  /// Returns the first rank of the group of a rank that is in a group.
  int first(int rank) const { return static_cast<int>(rank - rank % (std::int64_t{stride} * members)); }
};

/// Returns, on the first rank of each group, the texts of the group's ranks in ascending order of ranks; on all other
/// ranks an empty list.  Collective over all ranks.
/// cost    One message per rank, all to the first one of its group, and three reductions.
/// errors  The same on all ranks.
std::vector<std::string> gather(transport::Transport& transport, MakeText make, RankGroups groups = {});
/// Returns the texts of all ranks, on all ranks.  Collective.
/// errors  The same on all ranks.
std::vector<std::string> gather_to_all(transport::Transport& transport, MakeText make);
/// Returns the text of rank 0, on all ranks.  Collective.
/// errors  The same on all ranks.
std::string agree_on_text(transport::Transport& transport, MakeText make);

}  // namespace plait::collective
