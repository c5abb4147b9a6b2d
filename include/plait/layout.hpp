/// Layouts: how the elements of an N-dimensional array are distributed over the ranks of a grid.
///
/// Everything here is a value, is pure (no MPI, no I/O) and may be used from any thread.  Sizes are counted in
/// elements.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plait/distribution.hpp"
#include "plait/index_set.hpp"

namespace plait {

namespace layout {
struct LayoutInternals;
struct ResolvedLayout;
}  // namespace layout

/// The maximum number of dimensions.
inline constexpr int kMaxDimensions = 32;

/// The order of elements in memory or in a file.  `kC`: the last index varies fastest; `kFortran`: the first one does.
enum class Order : std::uint8_t { kC, kFortran };

/// The number of positions of the halo before (`lo`) and after (`hi`) the owned part of a local array.
struct Halo {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  bool operator==(const Halo&) const = default;
};

/// The part of an array that one template dimension holds (HPF 1.1 section 3.4, ALIGN).
struct Alignment {
  enum class Kind : std::uint8_t {
    kDimension,  ///< index i of `dimension` is at scale*i + offset
    kConstant,   ///< the array is at the index `offset` only
    kCopies,     ///< `*`: the array is at each index, so there are copies of it
  };
  Kind kind = Kind::kDimension;
  int dimension = 0;
  std::int64_t scale = 1;
  std::int64_t offset = 0;
  bool operator==(const Alignment&) const = default;
};

/// Less common properties of a layout; all are optional.
struct LayoutOptions {
  Extents rank_list;             ///< the rank of each grid position, in row-major order
  std::vector<int> replicate;    ///< grid axes along which each position holds a copy
  Extents source;                ///< coordinate of the first block, for each dimension (or each distributed one)
  Extents offset;                ///< template index at which the array begins, for each dimension
  std::vector<int> reverse;      ///< dimensions that are distributed towards lower coordinates
  std::vector<int> order;        ///< dimensions of local arrays, slowest first; overrides `order` of the constructor
  std::vector<Halo> halo;        ///< for each dimension
  std::vector<int> periodic;     ///< dimensions whose halo wraps around
  Extents template_shape;        ///< with `align`: the shape that is distributed, instead of the array's
  std::vector<Alignment> align;  ///< for each dimension of the template
  bool operator==(const LayoutOptions&) const = default;
};

/// The distribution of an array of a certain shape over ranks.
///
/// Each rank has a product of index sets, one for each dimension.  Its local array holds them in ascending order, in C
/// or Fortran order or any other order of the dimensions, with a halo around it if the layout has one.
class Layout {
 public:
  /// The scalar on one rank.
  Layout() : Layout(Extents{}, {}, Extents{}) {}

  /// errors  kArgument, naming the dimension and the values: more than 32 dimensions, a negative size, a number of
  ///         distributions that differs from the number of dimensions, a grid that does not match the distributed
  ///         dimensions, blocks or maps that do not fit, an array that leaves its template, a halo wider than a block,
  ///         counts past 2^63.
  Layout(Extents shape, std::vector<Distribution> distributions, Extents grid, Order ranks = Order::kC,
         Order order = Order::kC, LayoutOptions options = {});

  /// Reads `8x12 (block, cyclic(3)) onto (2, 2) ranks=F order=F`.  The text may omit the shape if `shape` is given.
  /// docs/reference/notation.md describes the notation.
  /// errors  kArgument, with the position in the text and what was expected there.
  static Layout parse(std::string_view text);
  static Layout parse(std::string_view text, const Extents& shape);

  int dimensions() const { return static_cast<int>(shape().size()); }
  const Extents& shape() const;
  /// Returns the distributions as they were given: one for each dimension of the template, which is the array unless it
  /// is aligned.
  const std::vector<Distribution>& distributions() const;
  const Extents& grid() const;
  Order ranks() const;
  const LayoutOptions& options() const;
  /// Returns the dimensions of local arrays, slowest first.
  const std::vector<int>& order() const;
  /// Returns the number of ranks that hold a part of the array.  With replicas, each of them holds a copy.
  std::int64_t size() const;
  /// Returns the largest rank plus one.
  std::int64_t ranks_end() const;
  /// True if a rank holds a part (which may be empty).
  bool has_rank(std::int64_t rank) const;
  /// Returns all ranks, ascending.  cost  O(ranks).
  std::vector<std::int64_t> rank_numbers() const;
  /// Returns the number of elements of the whole array.
  std::int64_t elements() const;

  /// Returns the coordinate of a rank for each *array* dimension (0 if it is not distributed).
  /// errors  kArgument: a rank that the layout does not have.
  Extents coordinates(std::int64_t rank) const;
  /// Returns the rank at these coordinates among the ranks of one replica: the inverse of coordinates().
  std::int64_t rank_at(std::span<const std::int64_t> coordinates, std::int64_t replica = 0) const;
  /// Returns the number of coordinates that dimension `dimension` is distributed over, 1 for `*`.
  std::int64_t coordinates_in(int dimension) const;
  /// Return the number of copies of each element, and the copy that a rank holds.  Replicas are in ascending order of
  /// the ranks that hold an element.
  std::int64_t replicas() const;
  std::int64_t replica(std::int64_t rank) const;

  /// Returns the indices of one dimension that one coordinate owns.
  IndexSet index_set(int dimension, std::int64_t coordinate) const;
  /// Returns one index set for each dimension.
  std::vector<IndexSet> index_sets(std::int64_t rank) const;
  /// Returns the shape of the owned part of the local array.
  Extents local_shape(std::int64_t rank) const;
  std::int64_t local_elements(std::int64_t rank) const;
  /// Returns the shape of the local array with its halo, which is the shape of the arrays that programs pass.
  Extents padded_shape(std::int64_t rank) const;
  /// Return the number of contiguous runs of the array in `order` (C or Fortran) that a rank owns, and the length of
  /// the longest one in elements.
  /// cost  O(runs of one period of each dimension).
  std::int64_t runs(std::int64_t rank, Order order = Order::kC) const;
  std::int64_t largest_run(std::int64_t rank, Order order = Order::kC) const;
  /// Returns the maximum number of indices of a dimension that any coordinate owns.
  std::int64_t longest_local(int dimension) const;
  Halo halo(int dimension) const;
  bool has_halo() const;
  bool periodic(int dimension) const;

  /// Returns the coordinate that owns an index of a dimension.
  std::int64_t owner(int dimension, std::int64_t index) const;
  /// Returns the coordinates that own at least one index of [begin, end), ascending.  May include a few that own none
  /// if the alignment of the dimension has a stride.  cost  O(coordinates returned).
  std::vector<std::int64_t> owners_in(int dimension, std::int64_t begin, std::int64_t end) const;

  /// Returns the ranks that own an element, ascending: one for each replica.  errors  kArgument: an index outside the
  /// array.
  std::vector<std::int64_t> owners(std::span<const std::int64_t> index) const;
  /// Returns the owner that holds replica 0.
  std::int64_t owner(std::span<const std::int64_t> index) const;
  /// Returns the position of an element in the owned part of the local array of `rank`.
  /// errors  kArgument: not owned by that rank.
  Extents to_local(std::span<const std::int64_t> index, std::int64_t rank) const;
  /// Returns the element at a local position: the inverse of to_local().  errors  kArgument: outside the local array.
  Extents to_global(std::span<const std::int64_t> local, std::int64_t rank) const;

  /// True if both layouts have the same ranks and each rank has the same indices of each dimension, and so the same
  /// elements, in the same local order with the same halo.  Their spelling may differ.
  bool operator==(const Layout& other) const;

  /// True if the two were written in the same way.  Cheaper than ==, and never true for layouts that differ.
  bool spelled_like(const Layout& other) const;

  /// Returns the normal form of this layout, which equal layouts share.
  /// cost    O(ranks) for up to a few thousand ranks, and if ranks are listed or a dimension has an indirect, nested or
  ///         aligned distribution; else O(dimensions).  Irregular dimensions add O(runs of one period).
  Layout normal_form() const;

 private:
  friend struct layout::LayoutInternals;
  std::shared_ptr<const layout::ResolvedLayout> resolved_;
};

/// Returns the text of the normal form: `8x12 (block, cyclic(3)) onto (2, 2)`.  `Layout::parse(to_string(x)) == x`.
std::string to_string(const Layout& layout);
/// Returns the text of the layout as it was given, not of its normal form.
std::string spelling(const Layout& layout);
/// Returns a text that equal layouts share: the text of the normal form, or only the shape and the number of ranks if a
/// dimension is too irregular to be written out.
std::string hashed_text(const Layout& layout);
/// Prints a shape as `8x12`, and a scalar's shape as `scalar`.
std::string shape_to_string(const Extents& shape);

}  // namespace plait
