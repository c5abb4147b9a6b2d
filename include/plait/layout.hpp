/// Layouts: how the elements of an N-dimensional array are dealt to the ranks of a grid.
///
/// Everything here is a value, is pure (no MPI, no I/O) and may be used from any thread.  Sizes are counted in
/// elements.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plait/index_set.hpp"

namespace plait {

using Extents = std::vector<std::int64_t>;

/// More dimensions than this are refused.
inline constexpr int kMaxDimensions = 32;

/// `kC`: the last index varies fastest; `kFortran`: the first one does.
enum class Order : std::uint8_t { kC, kFortran };

/// How the indices of one dimension are dealt to the coordinates of one grid dimension (HPF 1.1 section 3.3, HPF 2.0
/// section 8 for GEN_BLOCK).
struct Distribution {
  enum class Kind : std::uint8_t {
    kCollapsed,  ///< `*`: not dealt; each rank has all indices and the dimension uses no grid dimension
    kBlock,      ///< `block`: blocks of ceil(N/p), the last ones short or empty; `block(m)`: blocks of m, m*p >= N
    kBalanced,   ///< `balanced`: the first N mod p coordinates have one index more than the others
    kCyclic,     ///< `cyclic(k)`: blocks of k dealt round robin
    kGenBlock,   ///< `gen_block(sizes)`: consecutive blocks of the given sizes
  };
  Kind kind = Kind::kCollapsed;
  std::int64_t block = 0;  ///< kBlock: m, or 0 for ceil(N/p); kCyclic: k
  Extents sizes;           ///< kGenBlock only, one for each coordinate

  static Distribution collapsed() { return {}; }
  static Distribution block_of(std::int64_t m = 0) { return {Kind::kBlock, m, {}}; }
  static Distribution balanced() { return {Kind::kBalanced, 0, {}}; }
  static Distribution cyclic(std::int64_t k = 1) { return {Kind::kCyclic, k, {}}; }
  static Distribution gen_block(Extents sizes) { return {Kind::kGenBlock, 0, std::move(sizes)}; }

  bool operator==(const Distribution&) const = default;
};

/// Prints a distribution as HPF spells it, in lower case: `cyclic(3)`.
std::string to_string(const Distribution& distribution);

/// How an array of a given shape is dealt to ranks.
///
/// Grid dimensions belong to the dimensions that are not `*`, left to right.  The local array of a rank holds its
/// indices of each dimension in ascending order, in C or Fortran order.
class Layout {
 public:
  /// The scalar on one rank.
  Layout() : Layout(Extents{}, {}, Extents{}) {}

  /// errors  kArgument: more than 32 dimensions, a negative size, a number of distributions that differs from the
  /// number
  ///         of dimensions, a grid that does not match the dealt dimensions, `block(m)` too small, `gen_block` sizes
  ///         that do not sum, counts past 2^63.
  Layout(Extents shape, std::vector<Distribution> distributions, Extents grid, Order ranks = Order::kC,
         Order order = Order::kC);

  /// Reads `8x12 (block, cyclic(3)) onto (2, 2) ranks=F order=F`; the shape may be left out where `shape` is given.
  /// errors  kArgument, with the position in the text and what was expected there.
  static Layout parse(std::string_view text);
  static Layout parse(std::string_view text, const Extents& shape);

  int dimensions() const { return static_cast<int>(shape_.size()); }
  const Extents& shape() const { return shape_; }
  const std::vector<Distribution>& distributions() const { return distributions_; }
  const Extents& grid() const { return grid_; }
  Order ranks() const { return ranks_; }
  Order order() const { return order_; }
  /// Number of ranks: the product of the grid.
  std::int64_t size() const { return size_; }
  /// Whether a rank holds a part of the array.
  bool has_rank(std::int64_t rank) const { return rank >= 0 && rank < size_; }
  /// One more than the largest rank.
  std::int64_t ranks_end() const { return size_; }
  /// Number of elements of the whole array.
  std::int64_t elements() const { return elements_; }

  /// Place of a rank in the grid, one coordinate for each *array* dimension (0 where it is `*`).
  /// errors  kArgument: no such rank.
  Extents coordinates(std::int64_t rank) const;
  /// The inverse of coordinates().
  std::int64_t rank_at(std::span<const std::int64_t> coordinates) const;
  /// Number of coordinates that dimension `dimension` is dealt to, 1 for `*`.
  std::int64_t coordinates_in(int dimension) const {
    return per_dimension_[static_cast<std::size_t>(dimension)].extent;
  }

  /// The indices of one dimension that one coordinate owns.
  IndexSet index_set(int dimension, std::int64_t coordinate) const;
  /// One index set for each dimension.
  std::vector<IndexSet> index_sets(std::int64_t rank) const;
  Extents local_shape(std::int64_t rank) const;
  /// Shape of the local array with its halo, which is what programs pass around.
  Extents padded_shape(std::int64_t rank) const { return local_shape(rank); }
  std::int64_t local_elements(std::int64_t rank) const;

  /// The coordinate that owns an index of a dimension.
  std::int64_t owner(int dimension, std::int64_t index) const;
  /// The coordinates that own at least one index of [begin, end), ascending.  Cost: as many as are returned.
  std::vector<std::int64_t> owners_in(int dimension, std::int64_t begin, std::int64_t end) const;

  /// The rank that owns an element.  errors  kArgument: an index outside the array.
  std::int64_t owner(std::span<const std::int64_t> index) const;
  /// The place of an element in the local array of `rank`.  errors  kArgument: not owned by that rank.
  Extents to_local(std::span<const std::int64_t> index, std::int64_t rank) const;
  /// The inverse of to_local().  errors  kArgument: outside the local array.
  Extents to_global(std::span<const std::int64_t> local, std::int64_t rank) const;

  /// Two layouts are equal when each rank has the same indices of each dimension, and so the same elements, in the same
  /// local order, however they were spelled.
  bool operator==(const Layout& other) const;

  /// Whether the two were spelled alike; cheaper than ==, and never true for layouts that differ.
  bool spelled_like(const Layout& other) const {
    return shape_ == other.shape_ && grid_ == other.grid_ && distributions_ == other.distributions_ &&
           ranks_ == other.ranks_ && order_ == other.order_;
  }

  /// The one normal form: equal layouts have the same one.
  Layout normal_form() const;

 private:
  struct Dimension {
    std::int64_t extent = 1;                // coordinates
    std::int64_t step = 0;                  // rank distance of neighbouring coordinates
    std::int64_t block = 0;                 // block length of block and cyclic
    std::shared_ptr<const Extents> starts;  // gen_block: p+1 prefix sums
  };

  Extents shape_;
  std::vector<Distribution> distributions_;
  Extents grid_;
  Order ranks_;
  Order order_;
  std::int64_t size_ = 1;
  std::int64_t elements_ = 1;
  std::vector<Dimension> per_dimension_;
};

/// The text of the normal form: `8x12 (block, cyclic(3)) onto (2, 2)`.  `Layout::parse(to_string(x)) == x`.
std::string to_string(const Layout& layout);
/// `8x12`; a scalar's shape is `scalar`.
std::string shape_to_string(const Extents& shape);

}  // namespace plait
