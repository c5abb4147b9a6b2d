/// The distribution of one dimension of an array over coordinates 0 ... p-1: the one-dimensional part of a layout,
/// resolved.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "plait/distribution.hpp"
#include "plait/index_set.hpp"
#include "plait/layout.hpp"

namespace plait::layout {

/// A partition of the indices [0, n) among coordinates. Immutable; any thread may use it.
class OwnerMap {
 public:
  OwnerMap(std::int64_t size, std::int64_t extent) : size_(size), extent_(extent) {}
  virtual ~OwnerMap() = default;

  std::int64_t size() const { return size_; }
  /// Returns the number of coordinates.
  std::int64_t extent() const { return extent_; }

  /// Returns the indices that a coordinate owns.
  virtual IndexSet set(std::int64_t coordinate) const = 0;
  /// Returns the coordinate that owns an index.
  virtual std::int64_t owner(std::int64_t index) const = 0;
  /// Returns the coordinates that own an index of [begin, end), in ascending order without repetitions. The result
  /// may contain coordinates that own none of them.
  virtual std::vector<std::int64_t> owners_in(std::int64_t begin, std::int64_t end) const = 0;
  /// Returns the largest number of indices that one coordinate owns.
  virtual std::int64_t longest() const;

 private:
  std::int64_t size_;
  std::int64_t extent_;
};

using OwnerMapPtr = std::shared_ptr<const OwnerMap>;

/// The coordinate of the first block and the direction from there: block b goes to coordinate (source + b) mod p, or
/// (source - b) mod p.
struct Turn {
  std::int64_t source = 0;
  bool reverse = false;
  /// Returns true if block b goes to coordinate b mod p.
  bool plain() const { return source == 0 && !reverse; }
};

/// The distributions `block`, `block(m)`, `balanced`, `cyclic(k)`, `gen_block(sizes)` and `*`. Index i of the array is
/// index i + offset of the template [0, n + offset).
class BlockOwnerMap : public OwnerMap {
 public:
  using Kind = Distribution::Kind;
  /// pre  make_owner_map() has checked the distribution for the template.
  BlockOwnerMap(const Distribution& distribution, std::int64_t size, std::int64_t extent, Turn turn,
                std::int64_t offset);

  Kind kind() const { return kind_; }
  const Turn& turn() const { return turn_; }
  std::int64_t offset() const { return offset_; }
  /// Returns the length of the blocks of `block` and `cyclic`, 0 for the others.
  std::int64_t block() const { return block_; }
  /// Returns the coordinate that owns block number `block` < p.
  std::int64_t block_owner(std::int64_t block) const;

  IndexSet set(std::int64_t coordinate) const override;
  std::int64_t owner(std::int64_t index) const override;
  std::vector<std::int64_t> owners_in(std::int64_t begin, std::int64_t end) const override;
  std::int64_t longest() const override;

 private:
  std::int64_t template_size() const { return size() + offset_; }
  /// Returns the template indices of every p-th block from block `first` < p on.
  IndexSet template_indices(std::int64_t first) const;
  /// Returns the number, modulo p, of the block that has a template index.
  std::int64_t block_number(std::int64_t index) const;

  Kind kind_;
  Turn turn_;
  std::int64_t offset_;
  std::int64_t block_ = 0;
  std::shared_ptr<const Extents> starts_;  // gen_block: p+1 prefix sums
};

/// The distribution `indirect(map)`.
class IndirectOwnerMap : public OwnerMap {
 public:
  /// pre  make_owner_map() has checked the owners.
  IndirectOwnerMap(const Distribution& distribution, std::int64_t size, std::int64_t extent);
  IndexSet set(std::int64_t coordinate) const override { return sets_[static_cast<std::size_t>(coordinate)]; }
  std::int64_t owner(std::int64_t index) const override;
  std::vector<std::int64_t> owners_in(std::int64_t begin, std::int64_t end) const override;

 private:
  std::int64_t period_ = 1;
  std::vector<OwnerRun> runs_;        // runs of one period, cut off at the size
  std::vector<std::int64_t> starts_;  // first index of each run
  std::vector<IndexSet> sets_;
};

/// `outer/inner`: the inner distribution divides the local positions of each outer coordinate; coordinate =
/// outer*p_inner + inner.
class NestedOwnerMap : public OwnerMap {
 public:
  NestedOwnerMap(OwnerMapPtr outer, Distribution inner, std::int64_t inner_extent);
  const OwnerMap& outer() const { return *outer_; }
  std::int64_t inner_extent() const { return inner_extent_; }
  IndexSet set(std::int64_t coordinate) const override;
  std::int64_t owner(std::int64_t index) const override;
  std::vector<std::int64_t> owners_in(std::int64_t begin, std::int64_t end) const override;

 private:
  /// Makes the inner map for an outer coordinate that owns `positions` indices.
  OwnerMapPtr inner_map(std::int64_t positions) const;
  OwnerMapPtr outer_;
  Distribution inner_;
  std::int64_t inner_extent_;
};

/// Index i of [0, n) is index scale*i + offset of another owner map (HPF ALIGN).
class AlignedOwnerMap : public OwnerMap {
 public:
  AlignedOwnerMap(OwnerMapPtr base, std::int64_t size, std::int64_t scale, std::int64_t offset);
  const OwnerMap& base() const { return *base_; }
  std::int64_t scale() const { return scale_; }
  std::int64_t offset() const { return offset_; }
  IndexSet set(std::int64_t coordinate) const override;
  std::int64_t owner(std::int64_t index) const override;
  std::vector<std::int64_t> owners_in(std::int64_t begin, std::int64_t end) const override;

 private:
  OwnerMapPtr base_;
  std::int64_t scale_;
  std::int64_t offset_;
};

/// The sizes from which an owner map is made, in addition to the distribution.
struct OwnerMapSize {
  std::int64_t size = 0;    ///< number of indices of the dimension
  const Extents& extents;   ///< coordinates of each level of nested distributions
  std::int64_t offset = 0;  ///< offset of the dimension in its template
};

/// Makes the owner map of a distribution, including its nested ones. Errors name `dimension`.
/// errors  kArgument, naming the dimension: invalid parameters, such as a block(m) that is too small.
OwnerMapPtr make_owner_map(const Distribution& distribution, const OwnerMapSize& sizes, Turn turn, int dimension);

/// Returns the owner map of a dimension of a layout. It exists as long as a copy of the layout.
const OwnerMap& get_owner_map(const Layout& layout, int dimension);

}  // namespace plait::layout
