// Summarizes the file views of all ranks.
//
// Problem: each rank has set a view of its own. Plait can carry out the accesses of all ranks at once only if their
// views are the parts of one array.
//
// Idea: a darray states the array and the distribution over all ranks, so it is enough that all ranks have the same
// one, each as the rank that it is: the smallest values of a hash and of its inverse decide. Subarrays state one box
// each, which must be boxes of one array. A rank whose view is only bytes may be one that takes no part in accesses.
//
// Example: four ranks have darrays of an array of 8x12 doubles that is distributed by blocks in dimension 0 over 4
// ranks, at displacement 100. Their hashes are equal, so the array is 8x12 (block, *) onto (4) at byte 100. The second
// filetype of each view is its part of a second array at byte 868.

#include "mpiio/views.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string_view>
#include <utility>

#include "mpiio/decoded_type.hpp"

namespace plait::mpiio {

namespace {

// An MPI takes about these nanoseconds for each piece of a file, and for each byte that it sends between ranks.
constexpr double kPerPiece = 100;
constexpr double kPerByte = 0.5;

constexpr std::int64_t kNoNumber = std::numeric_limits<std::int64_t>::max();

/// The numbers of a summary. Ranks agree on the smallest of each; names with Minus are negated to find the largest.
enum : std::size_t {
  kIsUnderstood,
  kIsNoDarray,
  kIsNoSubarray,
  kIsNoOther,  ///< 0 for bytes
  kHash,
  kInverseHash,
  kMinusDimensions,
  kMinusPieces,
  kMinusBytes,
  kIsHeld,
  kBegin,     ///< of blocks: the byte of the first one
  kMinusEnd,  ///< of blocks: the byte at which the last one of the first level begins
  kHasList,
  kMinusListPieces,
  kMinusListBytes,
  kListHash,  ///< of the view of a rank; the same for all views that are parts of arrays
  kInverseListHash
};

/// A hash of numbers, which are equal on all ranks if and only if it is (but for collisions in 62 bits).
class Hash {
 public:
  void add(std::int64_t value) {
    // The mixing function of SplitMix64.
    state_ += static_cast<std::uint64_t>(value) + 0x9e3779b97f4a7c15U;
    state_ = (state_ ^ state_ >> 30) * 0xbf58476d1ce4e5b9U;
    state_ = (state_ ^ state_ >> 27) * 0x94d049bb133111ebU;
    state_ ^= state_ >> 31;
  }
  void add(const Extents& values) {
    add(std::ssize(values));
    for (const std::int64_t value : values) add(value);
  }
  std::int64_t value() const { return static_cast<std::int64_t>(state_ & ((1ULL << 62) - 1)); }

 private:
  std::uint64_t state_ = 0;
};

Hash hash_array(const FileView& view, const Extents& shape, Order order, std::int64_t element_bytes) {
  Hash hash;
  hash.add(view.displacement);
  hash.add(view.extent_bytes);
  hash.add(shape);
  hash.add(static_cast<std::int64_t>(order));
  hash.add(element_bytes);
  return hash;
}

/// The elements of a dimension that a rank owns, and the longest run of them.
struct Share {
  std::int64_t elements = 0;
  std::int64_t run = 0;
};

Share find_share(const Darray& darray, std::size_t d, std::int64_t coordinate) {
  const std::int64_t size = darray.shape[d];
  if (darray.kinds[d] == MPI_DISTRIBUTE_NONE) return {size, size};
  const std::int64_t parts = darray.grid[d];
  const bool is_cyclic = darray.kinds[d] == MPI_DISTRIBUTE_CYCLIC;
  std::int64_t block = darray.arguments[d];
  if (darray.arguments[d] == MPI_DISTRIBUTE_DFLT_DARG) block = is_cyclic ? 1 : (size + parts - 1) / parts;
  if (block <= 0 || parts <= 0) return {};
  const std::int64_t period = block * parts;
  const std::int64_t rest = std::clamp(size % period - coordinate * block, std::int64_t{0}, block);
  const std::int64_t elements = size / period * block + rest;
  return {elements, parts == 1 ? elements : std::min(elements, block)};
}

/// Counts runs: in each dimension, from the fastest one, runs continue while the rank owns all of it.
class PieceCounter {
 public:
  void add(std::int64_t size, const Share& share) {
    elements_ *= share.elements;
    if (!is_whole_) return;
    longest_ *= share.run;
    is_whole_ = share.run == size;
  }
  std::int64_t pieces() const { return elements_ == 0 ? 0 : (elements_ + longest_ - 1) / longest_; }

 private:
  std::int64_t elements_ = 1;
  std::int64_t longest_ = 1;
  bool is_whole_ = true;
};

std::size_t fastest(std::size_t i, std::size_t dimensions, Order order) {
  return order == Order::kC ? dimensions - 1 - i : i;
}

std::int64_t count_pieces(const Darray& darray) {
  const std::size_t n = darray.shape.size();
  std::vector<std::int64_t> coordinates(n);
  std::int64_t rest = darray.rank;
  for (std::size_t i = n; i-- > 0; rest /= darray.grid[i]) coordinates[i] = rest % darray.grid[i];
  PieceCounter counter;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t d = fastest(i, n, darray.order);
    counter.add(darray.shape[d], find_share(darray, d, coordinates[d]));
  }
  return counter.pieces();
}

std::int64_t count_pieces(const Subarray& subarray) {
  PieceCounter counter;
  for (std::size_t i = 0; i < subarray.shape.size(); ++i) {
    const std::size_t d = fastest(i, subarray.shape.size(), subarray.order);
    counter.add(subarray.shape[d], {subarray.sizes[d], subarray.sizes[d]});
  }
  return counter.pieces();
}

std::int64_t count_pieces(const Strided& strided) {
  std::int64_t pieces = 1;
  for (const Strided::Level& level : strided.levels) pieces *= level.count;
  return pieces;
}

/// Returns the distances of blocks: of all levels, or of filetypes if there are none.
Extents distances(const FileView& view, const Strided& strided) {
  Extents found;
  for (const Strided::Level& level : strided.levels) found.push_back(level.stride);
  if (found.empty()) found.push_back(view.extent_bytes);
  return found;
}

/// True if distances and blocks are whole etypes, which become the elements of an array.
bool has_whole_etypes(const FileView& view, const Strided& strided) {
  return distances(view, strided).back() % view.etype_bytes == 0 && strided.block % view.etype_bytes == 0;
}

/// The bytes at which the first block begins, and the last one of the first level.
struct BlockSpan {
  std::int64_t begin = 0;
  std::int64_t last = 0;
};

/// Returns nothing if the blocks end past 2^63 bytes.
std::optional<BlockSpan> find_span(const FileView& view, const Strided& strided) {
  BlockSpan span;
  if (__builtin_add_overflow(view.displacement, strided.begin, &span.begin)) return std::nullopt;
  std::int64_t end = span.begin;
  span.last = span.begin;
  for (const Strided::Level& level : strided.levels) {
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(level.count - 1, level.stride, &bytes) || __builtin_add_overflow(end, bytes, &end))
      return std::nullopt;
    if (&level == strided.levels.data()) span.last = end;
  }
  if (__builtin_add_overflow(end, strided.block, &end)) return std::nullopt;
  return span;
}

/// Blocks at equal distances are parts of one array, whose extents are the distances divided by each other. The number
/// of blocks of the first level may differ.
Hash hash_blocks(const FileView& view, const Strided& strided) {
  Hash hash;
  hash.add(distances(view, strided));
  hash.add(std::ssize(strided.levels));
  hash.add(view.etype_bytes);
  return hash;
}

/// Lists with equal hashes may differ.
Hash hash_list(const FileView& view) {
  Hash hash;
  hash.add({view.displacement, view.extent_bytes, view.etype_bytes});
  hash.add({view.runs->bytes, view.runs->runs, view.runs->begin, view.runs->end});
  return hash;
}

/// Returns the runs of a filetype; nullptr if they are unknown, or do not ascend from one filetype to the next.
Runs find_list(const plait_mpiio_view& view, DecodedType& filetype) {
  Runs runs = filetype.runs(view.filetype);
  const bool is_list =
      runs && runs->is_ascending && runs->bytes == filetype.bytes() &&
      (runs->bytes == 0 || (runs->begin >= -view.displacement && runs->end - runs->begin <= filetype.extent_bytes()));
  return is_list ? runs : nullptr;
}

}  // namespace

bool is_contiguous(const plait_mpiio_view& view, MPI_Comm comm) {
  const std::shared_ptr<DecodedType> filetype = find_decoded(view.filetype, comm);
  return !filetype || filetype->bytes() == filetype->extent_bytes();
}

std::optional<FileView> decode(const plait_mpiio_view& view, MPI_Comm comm) {
  if (view.representation == nullptr || std::string_view(view.representation) != "native") return std::nullopt;
  if (view.displacement < 0) return std::nullopt;
  const std::shared_ptr<DecodedType> etype = find_decoded(view.etype, comm);
  if (!etype) return std::nullopt;
  const std::shared_ptr<DecodedType> filetype = view.filetype == view.etype ? etype : find_decoded(view.filetype, comm);
  if (!filetype) return std::nullopt;
  FileView found;
  found.filetype = filetype->array();
  if (std::holds_alternative<std::monostate>(found.filetype)) found.runs = find_list(view, *filetype);
  found.displacement = view.displacement;
  found.bytes = filetype->bytes();
  found.etype_bytes = etype->bytes();
  found.extent_bytes = filetype->extent_bytes();
  if (found.etype_bytes <= 0 || found.bytes < 0) return std::nullopt;
  return found;
}

Runs find_runs(const FileView& view) { return view.runs ? view.runs : make_runs(view.filetype); }

std::int64_t count_pieces(const FileView& view) {
  if (view.runs) return view.runs->runs;
  if (const auto* darray = std::get_if<Darray>(&view.filetype)) return count_pieces(*darray);
  if (const auto* subarray = std::get_if<Subarray>(&view.filetype)) return count_pieces(*subarray);
  if (const auto* strided = std::get_if<Strided>(&view.filetype)) return count_pieces(*strided);
  return 0;
}

ViewSummary::ViewSummary(const std::optional<FileView>& view, int rank, int ranks) {
  numbers_ = {0, 1, 1, 1, kNoNumber, kNoNumber, 0, 0, 0, 0, kNoNumber, 0, 0, 0, 0, 0, 0};
  if (!view) return;
  if (view->runs || !std::holds_alternative<std::monostate>(view->filetype)) {
    const bool has_gaps = view->bytes != view->extent_bytes;
    numbers_[kHasList] = 1;
    numbers_[kMinusListPieces] = has_gaps ? -count_pieces(*view) : 0;
    numbers_[kMinusListBytes] = has_gaps ? -view->bytes : 0;
    if (view->runs) numbers_[kListHash] = hash_list(*view).value();
    numbers_[kInverseListHash] = -numbers_[kListHash];
  }
  Hash hash;
  if (const auto* darray = std::get_if<Darray>(&view->filetype)) {
    if (darray->rank != rank || darray->ranks != ranks) return;
    hash = hash_array(*view, darray->shape, darray->order, darray->element_bytes);
    for (const int kind : darray->kinds) hash.add(kind);
    for (const int argument : darray->arguments) hash.add(argument);
    hash.add(darray->grid);
    numbers_[kIsNoDarray] = 0;
  } else if (const auto* subarray = std::get_if<Subarray>(&view->filetype)) {
    hash = hash_array(*view, subarray->shape, subarray->order, subarray->element_bytes);
    numbers_[kIsNoSubarray] = 0;
    numbers_[kMinusDimensions] = -std::ssize(subarray->shape);
  } else if (const auto* strided = std::get_if<Strided>(&view->filetype)) {
    const std::optional<BlockSpan> blocks = find_span(*view, *strided);
    if (!blocks || !has_whole_etypes(*view, *strided)) return;
    hash = hash_blocks(*view, *strided);
    numbers_[kIsNoSubarray] = 0;
    numbers_[kMinusDimensions] = -std::max<std::int64_t>(1, std::ssize(strided->levels) + 1);
    numbers_[kBegin] = blocks->begin;
    numbers_[kMinusEnd] = -blocks->last;
  } else if (std::holds_alternative<Dense>(view->filetype)) {
    numbers_[kIsNoOther] = 0;
    numbers_[kIsUnderstood] = 1;
    return;
  } else {
    return;
  }
  numbers_[kHash] = hash.value();
  numbers_[kInverseHash] = -hash.value();
  numbers_[kMinusPieces] = -count_pieces(*view);
  numbers_[kMinusBytes] = -view->bytes;
  numbers_[kIsUnderstood] = 1;
}

std::optional<FileView> ViewSummary::to_box(const FileView& view) const {
  const auto* strided = std::get_if<Strided>(&view.filetype);
  if (strided == nullptr) return view;
  const std::int64_t base = numbers_[kBegin];
  Subarray box;
  box.element_bytes = view.etype_bytes;
  std::int64_t offset = view.displacement + strided->begin - base;
  std::int64_t outer = 0;
  for (const std::int64_t distance : distances(view, *strided)) {
    const bool is_first = box.shape.empty();
    if (!strided->levels.empty()) {
      box.shape.push_back(is_first ? (-numbers_[kMinusEnd] - base) / distance + 1 : outer / distance);
      box.sizes.push_back(strided->levels[box.sizes.size()].count);
      box.starts.push_back(offset / distance);
      offset %= distance;
    }
    outer = distance;
  }
  if (offset % view.etype_bytes != 0) return std::nullopt;
  box.shape.push_back(outer / view.etype_bytes);
  box.sizes.push_back(strided->block / view.etype_bytes);
  box.starts.push_back(offset / view.etype_bytes);
  for (std::size_t d = 0; d < box.shape.size(); ++d)
    if (box.starts[d] + box.sizes[d] > box.shape[d]) return std::nullopt;
  FileView found = view;
  found.filetype = std::move(box);
  found.displacement = base;
  return found;
}

void ViewSummary::vote_for_holding() { numbers_[kIsHeld] = 1; }

bool ViewSummary::is_held() const { return numbers_[kIsHeld] == 1; }

bool ViewSummary::is_same() const { return numbers_[kHash] == -numbers_[kInverseHash]; }

bool ViewSummary::is_one_darray() const {
  return numbers_[kIsUnderstood] == 1 && numbers_[kIsNoDarray] == 0 && numbers_[kIsNoSubarray] == 1 &&
         numbers_[kIsNoOther] == 1 && is_same();
}

bool ViewSummary::is_one_array_of_boxes() const {
  return numbers_[kIsUnderstood] == 1 && numbers_[kIsNoDarray] == 1 && numbers_[kIsNoSubarray] == 0 && is_same();
}

std::size_t ViewSummary::dimensions() const { return static_cast<std::size_t>(-numbers_[kMinusDimensions]); }

bool ViewSummary::has_one_piece() const { return numbers_[kMinusPieces] >= -1; }

void ViewSummary::discard_array() { numbers_[kIsUnderstood] = 0; }

bool ViewSummary::has_lists() const { return numbers_[kHasList] == 1; }

bool ViewSummary::has_list_gain(int ranks, bool is_always) const {
  if (is_always) return has_lists();
  // Accesses of small arrays need no second agreement.
  return list_gain(ranks) != 0 && (!is_array() || has_many_pieces(1));
}

bool ViewSummary::has_many_pieces(std::int64_t filetypes) const {
  // The MPI carries out accesses to fewer pieces as fast, since Plait sends several messages for each access.
  constexpr std::int64_t kMinPieces = 256;
  const std::int64_t pieces = -numbers_[kMinusListPieces];
  return pieces > 0 && filetypes >= (kMinPieces + pieces - 1) / pieces;
}

bool ViewSummary::has_held_lists(int ranks, bool is_always) const {
  return has_list_gain(ranks, is_always) && (is_always || has_many_pieces(1)) &&
         (ranks == 1 || numbers_[kListHash] != -numbers_[kInverseListHash]);
}

std::int64_t ViewSummary::list_gain(int ranks) const {
  constexpr std::int64_t kMaxPiece = 2048;
  const std::int64_t pieces = -numbers_[kMinusListPieces];
  if (!has_lists() || pieces == 0 || -numbers_[kMinusListBytes] / pieces > kMaxPiece) return 0;
  return static_cast<std::int64_t>(std::min(kPerPiece * static_cast<double>(pieces) * ranks, 1e15));
}

std::int64_t ViewSummary::gain(int ranks) const {
  const auto pieces = static_cast<double>(-numbers_[kMinusPieces]);
  const auto bytes = static_cast<double>(-numbers_[kMinusBytes]);
  if (pieces <= 1 && numbers_[kBegin] == kNoNumber) return 0;
  return static_cast<std::int64_t>(std::min((kPerPiece * pieces + kPerByte * bytes) * ranks, 1e15));
}

}  // namespace plait::mpiio
