// Conversions: the messages of a rank as combinations of partners in each dimension.
//
// In each dimension, the partners of a rank's coordinate are found independently, with their overlaps.  A message goes
// to each combination of one partner per dimension.  Its elements are all combinations of the common indices.  If the
// source is replicated, each receiver reads from one copy of it only (replica_for).
//
// Example: from `4x6 (block, block) onto (2, 2)` to `4x6 (*, cyclic) onto (3)`.  Rank 0 owns rows 0-1 and columns 0-2.
// In the rows its only partner is coordinate 0, with 2 common indices; in the columns its partners are 0, 1 and 2, with
// 1 common index each.  So it sends 3 messages of 2 elements, each in 2 runs.

#include "plait/conversion.hpp"

#include <algorithm>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "plan/conversion/block_size.hpp"
#include "plan/conversion/partners.hpp"

namespace plait {

namespace {

/// Returns the number of the copy of the source that a rank of the target reads: the copy that the rank holds itself,
/// or else the rank's number modulo the number of copies, so that copies are used evenly. replica() is not used for a
/// rank that holds no element: equal layouts may state different copies for it.
std::int64_t replica_for(const Layout& source, std::int64_t receiver) {
  if (source.replicas() == 1) return 0;
  const bool holds = source.has_rank(receiver) && source.local_elements(receiver) > 0;
  return holds ? source.replica(receiver) : receiver % source.replicas();
}

/// Returns the numbers of elements and runs of the message to a combination of partners, one for each dimension.  A
/// partner has several overlaps in a dimension if a halo wraps around, so the numbers are summed over all combinations
/// of overlaps.
Message make_message(const std::vector<const plan::Partner*>& partners, const Layout& own_layout, const Layout& other) {
  Message message;
  const std::size_t dimensions = partners.size();
  std::vector<std::size_t> entry(dimensions, 0);
  std::vector<const plan::Overlap*> overlaps(dimensions);
  while (true) {
    std::int64_t elements = 1;
    for (std::size_t d = 0; d < dimensions; ++d) {
      overlaps[d] = &partners[d]->overlaps[entry[d]];
      elements *= overlaps[d]->elements;
    }
    message.elements += elements;
    message.runs += plan::count_product_runs(overlaps, own_layout.order(), other.order());
    std::size_t d = dimensions;
    while (d > 0 && ++entry[d - 1] == partners[d - 1]->overlaps.size()) entry[--d] = 0;
    if (d == 0) return message;
  }
}

/// Returns the messages of all combinations of one partner for each dimension.  `ranks_at(coordinates)` returns the
/// ranks of the other side at these coordinates that take part.
template <typename RanksAt>
std::vector<Message> messages(const Layout& own_layout, const Layout& other,
                              const std::vector<std::vector<plan::Partner>>& by_dimension, RanksAt&& ranks_at) {
  std::vector<Message> result;
  for (const auto& found : by_dimension)
    if (found.empty()) return result;
  const std::size_t dimensions = by_dimension.size();
  std::vector<std::size_t> entry(dimensions, 0);
  std::vector<const plan::Partner*> partners(dimensions);
  Extents coordinates(dimensions);
  while (true) {
    for (std::size_t d = 0; d < dimensions; ++d) {
      partners[d] = &by_dimension[d][entry[d]];
      coordinates[d] = partners[d]->coordinate;
    }
    const std::vector<std::int64_t> ranks = ranks_at(coordinates);
    if (!ranks.empty()) {
      Message message = make_message(partners, own_layout, other);
      for (const std::int64_t rank : ranks) {
        message.rank = rank;
        result.push_back(message);
      }
    }
    std::size_t d = dimensions;
    while (d > 0 && ++entry[d - 1] == by_dimension[d - 1].size()) entry[--d] = 0;
    if (d == 0) break;
  }
  std::sort(result.begin(), result.end(), [](const Message& a, const Message& b) { return a.rank < b.rank; });
  return result;
}

}  // namespace

Conversion::Conversion(Layout source, Layout target, bool fill_halo)
    : source_(std::move(source)), target_(std::move(target)), fill_halo_(fill_halo) {
  if (source_.shape() == target_.shape()) return;
  const Extents& from = source_.shape();
  const Extents& to = target_.shape();
  std::string difference;
  for (std::size_t d = 0; d < std::min(from.size(), to.size()) && difference.empty(); ++d)
    if (from[d] != to[d]) difference = base::text("; dimension ", d, " has ", from[d], " and ", to[d], " indices");
  base::throw_argument_error("a conversion needs two layouts of one shape; the source is ", shape_to_string(from),
                             ", the target ", shape_to_string(to), difference);
}

std::vector<Message> Conversion::sends(std::int64_t rank) const {
  const auto partners = plan::partners_by_dimension(source_, rank, target_, /*fill_mine=*/false, fill_halo_);
  const std::int64_t own_replica = source_.replica(rank);
  return messages(source_, target_, partners, [&](const Extents& coordinates) {
    std::vector<std::int64_t> ranks;
    for (std::int64_t replica = 0; replica < target_.replicas(); ++replica) {
      const std::int64_t receiver = target_.rank_at(coordinates, replica);
      if (replica_for(source_, receiver) == own_replica) ranks.push_back(receiver);
    }
    return ranks;
  });
}

std::vector<Message> Conversion::receives(std::int64_t rank) const {
  const auto partners = plan::partners_by_dimension(target_, rank, source_, fill_halo_, /*fill_other=*/false);
  const std::int64_t replica = replica_for(source_, rank);
  return messages(target_, source_, partners, [&](const Extents& coordinates) {
    return std::vector<std::int64_t>{source_.rank_at(coordinates, replica)};
  });
}

std::int64_t Conversion::block() const { return plan::block_size(source_, target_, fill_halo_); }

std::string Conversion::explain() const {
  constexpr std::int64_t kMaxRanks = 64;  // the messages of more ranks than this would take long to count
  std::string out = base::text("from    ", to_string(source_), "\nto      ", to_string(target_), '\n');
  base::append_parts(out, "block   ", block(), block() == 1 ? " element" : " elements",
                     " contiguous on both sides everywhere\n");
  if (fill_halo_) out += "halos   of the target are filled\n";
  if (source_ == target_ && !fill_halo_) return out + "moves   nothing between ranks: the layouts are equal\n";
  if (std::max(source_.size(), target_.size()) > kMaxRanks) {
    const std::vector<Message> first = sends(source_.rank_numbers().front());
    std::int64_t elements = 0;
    for (const Message& message : first) elements += message.elements;
    base::append_parts(out, "rank ", source_.rank_numbers().front(), "  sends ", elements, " elements in ",
                       first.size(), " messages\n");
    return out;
  }
  std::int64_t unmoved = 0;
  std::int64_t moved = 0;
  std::int64_t count = 0;
  for (const std::int64_t rank : source_.rank_numbers()) {
    for (const Message& message : sends(rank)) {
      if (message.rank == rank) {
        unmoved += message.elements;
      } else {
        ++count;
        moved += message.elements;
      }
    }
  }
  base::append_parts(out, "moves   ", moved, " of ", moved + unmoved, " elements between ranks, in ", count,
                     " messages\n");
  return out;
}

Conversion Conversion::inverse() const { return Conversion(target_, source_); }

Conversion Conversion::then(const Conversion& next) const {
  if (!(target_ == next.source_))
    base::throw_argument_error("the conversion ends in ", to_string(target_), ", but the next one begins with ",
                               to_string(next.source_));
  return Conversion(source_, next.target_, next.fill_halo_);
}

Conversion compose(const Layout& source, const Layout& target, bool fill_halo) { return {source, target, fill_halo}; }

}  // namespace plait
