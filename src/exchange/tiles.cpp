// Fills a target tile by tile.
//
// Problem: if source and target are contiguous in different dimensions, or rows consist of pieces of several sources, a
// copy in the order of either array uses one element of a cache line and evicts the rest before it is needed.
//
// Idea: the target is divided into boxes of about kTileBytes, which stay in a core's cache together with the source
// elements that they take. Each dimension is divided into intervals once, and the pieces of every share are clipped to
// each interval, so that a tile only combines prepared lists.
//
// Example: 4096x4096 doubles, transposed in memory (C order from Fortran order). The target's fastest dimension gets
// 2048 / 8 = 256 positions and the source's 1024 / 8 = 128, so that a tile has 128x256 doubles or 256 KiB. If both
// sides are in C order, rows first get 16 KiB, are widened to all 4096 positions (32 KiB), and a tile has 8 rows.

#include "exchange/tiles.hpp"

#include <algorithm>
#include <array>

#include "base/checked.hpp"
#include "copy/strided_copy.hpp"

namespace plait::exchange {

namespace {

// Measured on Zen 4 with 1 MiB of L2 cache. The source elements of a tile need as much again.
constexpr std::int64_t kTileBytes = 256 << 10;
constexpr std::int64_t kRowBytes = 16 << 10;
// Contiguous bytes of a tile in the target and in the source, if the two are contiguous in different dimensions.
constexpr std::int64_t kAcrossTarget = 2048;
constexpr std::int64_t kAcrossSource = 1024;

/// Returns the end of a piece in the target.
std::int64_t piece_end(const plan::Piece& piece) { return piece.b + (piece.count - 1) * piece.b_stride + piece.length; }

}  // namespace

Tiles::Tiles(const Extents& target_shape, const DimensionOrder& source_order, const DimensionOrder& target_order,
             std::int64_t element_bytes, std::vector<Share> shares)
    : element_bytes_(element_bytes),
      order_(target_order),
      shares_(std::move(shares)),
      dimensions_(target_shape.size()) {
  std::erase_if(shares_, [](const Share& share) {
    return std::any_of(share.pieces.begin(), share.pieces.end(), [](const auto& pieces) { return pieces.empty(); });
  });
  if (shares_.empty()) return;
  count_ = 1;
  std::int64_t bytes = element_bytes;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    Dimension& dimension = dimensions_[d];
    dimension.lo = target_shape[d];
    for (const Share& share : shares_)
      for (const plan::Piece& piece : share.pieces[d]) {
        dimension.lo = std::min(dimension.lo, piece.b);
        dimension.hi = std::max(dimension.hi, piece_end(piece));
      }
    bytes *= dimension.hi - dimension.lo;
  }
  streamed_ = bytes >= streamed_target.load(std::memory_order_relaxed);
  choose_intervals(source_order);
  cut_shares();
}

void Tiles::choose_intervals(const DimensionOrder& source_order) {
  std::int64_t bytes = element_bytes_;
  const auto extent = [&](std::size_t d) { return dimensions_[d].hi - dimensions_[d].lo; };
  const auto widen = [&](std::size_t d, std::int64_t positions) {
    Dimension& dimension = dimensions_[d];
    positions = std::min(positions, extent(d));
    if (positions <= dimension.interval) return;
    bytes = bytes / dimension.interval * positions;
    dimension.interval = positions;
  };
  // Widens dimensions until stretches of `min_bytes` bytes are contiguous in an array of this order.
  const auto stretch = [&](const DimensionOrder& order, std::int64_t min_bytes) {
    std::int64_t run = element_bytes_;
    for (std::size_t i = order.size(); i-- > 0 && run < min_bytes;) {
      const std::int64_t other = bytes / dimensions_[order[i]].interval;
      widen(order[i], std::min(base::ceil_divide(min_bytes, run), std::max<std::int64_t>(kTileBytes / other, 1)));
      if (dimensions_[order[i]].interval < extent(order[i])) return;
      run *= dimensions_[order[i]].interval;
    }
  };
  const bool across = !order_.empty() && source_order.back() != order_.back();
  stretch(order_, across ? kAcrossTarget : kRowBytes);
  if (across) stretch(source_order, kAcrossSource);
  for (std::size_t i = order_.size(); i-- > 0;) {
    const std::size_t d = order_[i];
    if (across && (d == order_.back() || d == source_order.back())) continue;
    widen(d, dimensions_[d].interval * std::max<std::int64_t>(kTileBytes / bytes, 1));
  }
  stage_bytes_ = streamed_ ? bytes : 0;
}

void Tiles::cut_shares() {
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    Dimension& dimension = dimensions_[d];
    dimension.parts.resize(
        static_cast<std::size_t>(base::ceil_divide(dimension.hi - dimension.lo, dimension.interval)));
    for (std::size_t i = 0; i < dimension.parts.size(); ++i) {
      const std::int64_t begin = dimension.lo + static_cast<std::int64_t>(i) * dimension.interval;
      const std::int64_t end = std::min(begin + dimension.interval, dimension.hi);
      for (std::size_t s = 0; s < shares_.size(); ++s) {
        const plan::Pieces clipped = plan::clip_target(shares_[s].pieces[d], begin, end);
        if (!clipped.empty()) dimension.parts[i].push_back({s, plan::elements(clipped), make_families(clipped)});
      }
    }
    count_ *= dimension.intervals();
  }
  for (Share& share : shares_) share.pieces.clear();
}

/// Returns the shares that have elements in a tile. Sets `elements` to the number of all these elements.
std::vector<Tiles::Piece> Tiles::find_pieces(const Extents& tile, std::int64_t& elements) const {
  const auto parts = [&](std::size_t d) -> const std::vector<Part>& {
    return dimensions_[d].parts[static_cast<std::size_t>(tile[d])];
  };
  std::vector<Piece> result;
  elements = 0;
  if (dimensions_.empty()) {
    elements = 1;
    return {{0, {}}};
  }
  for (const Part& first : parts(0)) {
    Piece piece{first.share, {&first.families}};
    std::int64_t product = first.elements;
    for (std::size_t d = 1; d < dimensions_.size() && piece.families.size() == d; ++d) {
      const std::vector<Part>& candidates = parts(d);
      const auto found = std::lower_bound(candidates.begin(), candidates.end(), first.share,
                                          [](const Part& part, std::size_t share) { return part.share < share; });
      if (found == candidates.end() || found->share != first.share) break;
      piece.families.push_back(&found->families);
      product *= found->elements;
    }
    if (piece.families.size() < dimensions_.size()) continue;
    elements += product;
    result.push_back(std::move(piece));
  }
  return result;
}

void Tiles::run_tile(const Extents& tile, std::span<const copy::LocalArray> sources, const copy::LocalArray& target,
                     std::byte* stage) const {
  const std::size_t dimensions = dimensions_.size();
  std::int64_t elements = 0;
  const std::vector<Piece> pieces = find_pieces(tile, elements);
  if (pieces.empty()) return;
  std::int64_t volume = 1;
  std::byte* position = target.data;
  for (std::size_t d = 0; d < dimensions; ++d) {
    volume *= dimensions_[d].size(tile[d]);
    position += (dimensions_[d].lo + tile[d] * dimensions_[d].interval) * target.strides[d];
  }
  // A stage writes whole lines past the caches. It needs a tile without gaps. A single nest of loops is copied
  // directly.
  bool staged = streamed_ && elements == volume && target.strides[order_.back()] == element_bytes_;
  if (staged && pieces.size() == 1) {
    const bool single_nest = std::all_of(pieces[0].families.begin(), pieces[0].families.end(),
                                         [](const Families* families) { return families->size() == 1; });
    staged = !single_nest || sources[shares_[pieces[0].share].source].strides[order_.back()] != element_bytes_;
  }
  Extents strides = target.strides;
  if (staged) {
    std::int64_t stride = element_bytes_;
    for (std::size_t i = dimensions; i-- > 0;) {
      strides[order_[i]] = stride;
      stride *= dimensions_[order_[i]].size(tile[order_[i]]);
    }
  }
  std::byte* const to = staged ? stage : position;
  const copy::Destination landing =
      streamed_ && !staged ? copy::Destination::kMemoryUnfenced : copy::Destination::kCaches;
  for (const Piece& piece : pieces) {
    const copy::LocalArray& from = sources[shares_[piece.share].source];
    for_each_nest(piece.families, from.strides, strides,
                  [&](std::int64_t a, std::int64_t b, std::span<const copy::Loop> loops) {
                    copy::strided_copy(to + b, from.data + a, element_bytes_, loops, landing);
                  });
  }
  if (!staged) return;
  std::array<copy::Loop, kMaxDimensions> loops;
  for (std::size_t d = 0; d < dimensions; ++d) loops[d] = {dimensions_[d].size(tile[d]), strides[d], target.strides[d]};
  copy::strided_copy(position, stage, element_bytes_, {loops.data(), dimensions}, copy::Destination::kMemoryUnfenced);
}

void Tiles::run(std::span<const copy::LocalArray> sources, const copy::LocalArray& target, std::byte* stage,
                std::int64_t begin, std::int64_t end) const {
  Extents at(dimensions_.size());
  for (std::int64_t tile = begin; tile < end; ++tile) {
    std::int64_t rest = tile;
    for (std::size_t i = order_.size(); i-- > 0;) {
      const std::int64_t intervals = dimensions_[order_[i]].intervals();
      at[order_[i]] = rest % intervals;
      rest /= intervals;
    }
    run_tile(at, sources, target, stage);
  }
}

}  // namespace plait::exchange
