/// Fills a local array tile by tile: boxes that fit into a core's cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "copy/local_array.hpp"
#include "exchange/families.hpp"
#include "exchange/share.hpp"

namespace plait::exchange {

/// A plan to fill one target, whatever the orders of dimensions in the target and its sources are.  It does not depend
/// on the addresses of the arrays.
///
/// A tile is a box of the target that fits a core's own cache together with the elements that it takes.  A tile of
/// several pieces is assembled in a stage and written to the target in whole lines past the caches, so that each byte
/// of either array passes memory once.  A tile that is a single nest of loops is copied directly.
/// threads  Several threads may call run() at once, each for its own tiles.
class Tiles {
 public:
  /// cost  O(pieces for each interval of each dimension), independent of the number of tiles.
  Tiles(const Extents& target_shape, const DimensionOrder& source_order, const DimensionOrder& target_order,
        std::int64_t element_bytes, std::vector<Share> shares);

  std::int64_t count() const { return count_; }
  /// Returns the bytes of the stage that run() needs.
  std::int64_t stage_bytes() const { return stage_bytes_; }

  /// Fills the tiles [begin, end) of the target.  The arrays may have any strides.
  void run(std::span<const copy::LocalArray> sources, const copy::LocalArray& target, std::byte* stage,
           std::int64_t begin, std::int64_t end) const;

 private:
  /// The elements of a share in one interval of a dimension.
  struct Part {
    std::size_t share = 0;
    std::int64_t elements = 0;
    Families families;
  };
  struct Dimension {
    std::int64_t lo = 0;  // [lo, hi): positions of the shares
    std::int64_t hi = 0;
    std::int64_t interval = 1;             // positions of a tile
    std::vector<std::vector<Part>> parts;  // for each interval, ascending by share
    std::int64_t intervals() const { return static_cast<std::int64_t>(parts.size()); }
    std::int64_t size(std::int64_t i) const { return std::min(interval, hi - lo - i * interval); }
  };
  /// The elements of one share in a tile: the families of each dimension.
  struct Piece {
    std::size_t share = 0;
    std::vector<const Families*> families;
  };

  /// Chooses the size of tiles in each dimension.
  void choose_intervals(const DimensionOrder& source_order);
  /// Divides the shares by the intervals of each dimension.
  void cut_shares();
  std::vector<Piece> find_pieces(const Extents& tile, std::int64_t& elements) const;
  void run_tile(const Extents& tile, std::span<const copy::LocalArray> sources, const copy::LocalArray& target,
                std::byte* stage) const;

  std::int64_t element_bytes_;
  DimensionOrder order_;
  std::vector<Share> shares_;
  std::vector<Dimension> dimensions_;
  std::int64_t count_ = 0;
  std::int64_t stage_bytes_ = 0;
  bool streamed_ = false;
};

}  // namespace plait::exchange
