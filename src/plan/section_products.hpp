/// Who sends what to whom when an array, or a section of one, goes from one layout into another.
#pragma once

#include <cstdint>
#include <vector>

#include "plait/layout.hpp"
#include "plan/products.hpp"

namespace plait::plan {

/// A box of `shape` elements that begins at `source_origin` in the source array and at `target_origin` in the target
/// array.  Without origins it is both arrays whole.
struct SectionPair {
  Extents shape;
  Extents source_origin;
  Extents target_origin;
  bool whole() const { return source_origin.empty(); }
};

/// What `sender` has of the section in the source layout and `receiver` wants in the target layout.  Pieces count
/// places of the local arrays, as those of products() do. cost    O(pieces).
std::vector<Product> section_products(const Layout& source, std::int64_t sender, const Layout& target,
                                      std::int64_t receiver, const SectionPair& section);

/// The pairs of a redistribution.  A value; every rank of a communicator comes to the same.
class Pairs {
 public:
  /// errors  kArgument: layouts of different shapes (without a section), a section that does not lie in both arrays.
  Pairs(Layout source, Layout target, bool fill_halo = false, SectionPair section = {});

  const Layout& source() const { return source_; }
  const Layout& target() const { return target_; }
  bool fill_halo() const { return fill_halo_; }
  const SectionPair& section() const { return section_; }
  /// Number of elements that are moved, of both arrays' parts the one.
  std::int64_t elements() const;

  /// Ranks of the target that get something from a rank, ascending, itself perhaps among them; none for a rank that is
  /// not in the source.
  std::vector<std::int64_t> receivers_of(std::int64_t sender) const;
  std::vector<std::int64_t> senders_of(std::int64_t receiver) const;
  std::vector<Product> products(std::int64_t sender, std::int64_t receiver) const;

 private:
  Layout source_;
  Layout target_;
  bool fill_halo_;
  SectionPair section_;
};

}  // namespace plait::plan
