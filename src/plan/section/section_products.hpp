/// The messages that move an array, or a box-shaped section of it, from one layout to another.
#pragma once

#include <cstdint>
#include <vector>

#include "plait/layout.hpp"
#include "plan/conversion/products.hpp"

namespace plait::plan {

/// A box of `shape` elements that begins at `source_origin` in the source array and at `target_origin` in the target
/// array.  Without origins it stands for both arrays as a whole.
struct SectionPair {
  Extents shape;
  Extents source_origin;
  Extents target_origin;
  bool whole() const { return source_origin.empty(); }
};

/// The pairs of ranks of a redistribution, with their messages.  A value: every rank of a communicator computes equal
/// results.
class Pairs {
 public:
  /// errors  kArgument: layouts of different shapes (without a section), a section that is not inside both arrays.
  Pairs(Layout source, Layout target, bool fill_halo = false, SectionPair section = {});

  const Layout& source() const { return source_; }
  const Layout& target() const { return target_; }
  bool fill_halo() const { return fill_halo_; }
  const SectionPair& section() const { return section_; }
  /// Returns the number of elements that are moved.
  std::int64_t elements() const;

  /// Return the ranks of the target that receive elements from a rank, and the ranks of the source that send elements
  /// to a rank, ascending, possibly including the rank itself.  Empty for a rank that is not in the layout.
  std::vector<std::int64_t> receivers(std::int64_t sender) const;
  std::vector<std::int64_t> senders(std::int64_t receiver) const;
  /// Returns the elements that `sender` has and `receiver` needs.  Pieces count positions of the whole local arrays.
  std::vector<Product> products(std::int64_t sender, std::int64_t receiver) const;

 private:
  Layout source_;
  Layout target_;
  bool fill_halo_;
  SectionPair section_;
  Layout from_;  // the section as a separate array, in the source's layout
  Layout to_;    // and in the target's
};

}  // namespace plait::plan
