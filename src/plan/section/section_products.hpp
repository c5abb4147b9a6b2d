/// Who sends what to whom when an array, or a section of one, goes from one layout into another.
#pragma once

#include <cstdint>
#include <vector>

#include "plait/layout.hpp"
#include "plan/conversion/products.hpp"

namespace plait::plan {

/// A box of `shape` elements that begins at `source_origin` in the source array and at `target_origin` in the target
/// array.  Without origins it is both arrays whole.
struct SectionPair {
  Extents shape;
  Extents source_origin;
  Extents target_origin;
  bool whole() const { return source_origin.empty(); }
};

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
  /// What `sender` has and `receiver` wants.  Pieces count positions of the whole local arrays.
  std::vector<Product> products(std::int64_t sender, std::int64_t receiver) const;

 private:
  Layout source_;
  Layout target_;
  bool fill_halo_;
  SectionPair section_;
  Layout from_;  // the section as an array of its own, on both sides
  Layout to_;
};

}  // namespace plait::plan
