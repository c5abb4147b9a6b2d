#include "plait/conversion.hpp"

#include <algorithm>
#include <sstream>

#include "base/text.hpp"
#include "plait/error.hpp"
#include "plan/block_size.hpp"
#include "plan/partners.hpp"

namespace plait {

namespace {

/// All combinations of one partner for each dimension.
std::vector<Message> messages(const Layout& mine, std::int64_t rank, const Layout& other) {
  const auto by_dimension = plan::partners_by_dimension(mine, rank, other);
  std::vector<Message> result;
  std::size_t total = 1;
  for (const auto& found : by_dimension) total *= found.size();
  if (total == 0) return result;
  result.reserve(total);

  const std::size_t dimensions = by_dimension.size();
  std::vector<std::size_t> chosen(dimensions, 0);
  std::vector<const plan::Overlap*> overlaps(dimensions);
  Extents coordinates(dimensions);
  for (std::size_t n = 0; n < total; ++n) {
    std::int64_t elements = 1;
    for (std::size_t d = 0; d < dimensions; ++d) {
      const plan::Partner& partner = by_dimension[d][chosen[d]];
      overlaps[d] = &partner.overlap;
      coordinates[d] = partner.coordinate;
      elements *= partner.overlap.elements;
    }
    result.push_back(
        {other.rank_at(coordinates), elements, plan::runs_of_product(overlaps, mine.order(), other.order())});
    for (std::size_t d = dimensions; d-- > 0;) {
      if (++chosen[d] < by_dimension[d].size()) break;
      chosen[d] = 0;
    }
  }
  std::sort(result.begin(), result.end(), [](const Message& a, const Message& b) { return a.rank < b.rank; });
  return result;
}

}  // namespace

Conversion::Conversion(Layout source, Layout target) : source_(std::move(source)), target_(std::move(target)) {
  if (source_.shape() != target_.shape())
    throw Error(ErrorKind::kArgument,
                base::text("a conversion needs two layouts of one shape; the source is ",
                           shape_to_string(source_.shape()), ", the target ", shape_to_string(target_.shape())));
}

std::vector<Message> Conversion::sends(std::int64_t rank) const { return messages(source_, rank, target_); }

std::vector<Message> Conversion::receives(std::int64_t rank) const { return messages(target_, rank, source_); }

std::int64_t Conversion::block() const { return plan::block_size(source_, target_); }

std::string Conversion::explain() const {
  constexpr std::int64_t kMostRanks = 64;
  std::ostringstream out;
  out << "from    " << to_string(source_) << '\n' << "to      " << to_string(target_) << '\n';
  out << "block   " << block() << (block() == 1 ? " element" : " elements") << " contiguous on both sides everywhere\n";
  if (source_ == target_) {
    out << "moves   nothing between ranks: the layouts are equal\n";
    return out.str();
  }
  if (std::max(source_.size(), target_.size()) > kMostRanks) {
    const std::vector<Message> first = sends(0);
    std::int64_t elements = 0;
    for (const Message& message : first) elements += message.elements;
    out << "rank 0  sends " << elements << " elements in " << first.size() << " messages\n";
    return out.str();
  }
  std::int64_t kept = 0;
  std::int64_t count = 0;
  for (std::int64_t rank = 0; rank < source_.size(); ++rank) {
    for (const Message& message : sends(rank)) {
      if (message.rank == rank) {
        kept += message.elements;
      } else {
        ++count;
      }
    }
  }
  out << "moves   " << source_.elements() - kept << " of " << source_.elements() << " elements between ranks, in "
      << count << " messages\n";
  return out.str();
}

Conversion compose(const Layout& source, const Layout& target) { return {source, target}; }

}  // namespace plait
