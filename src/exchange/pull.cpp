// Reads of parts of other processes' private arrays by process_vm_readv (transport::PeerMemory).
//
// Problem: a target takes short runs from every source. One entry of the system call per run costs more than its bytes
// below about 2 KiB, and a copy through a shared window moves every byte twice.
//
// Idea: long runs are read directly into the target (pull_runs). For short runs, a Band reads whole stretches of each
// source, from the first byte to the last one that a few target rows need, into a buffer that stays in the cache. Rows
// then assembles the target's rows from the buffer, with addresses of sources that point into it.
//
// Example: rows of 1,000 doubles, cyclic(1) over 4 sources. A target row interleaves 250 doubles of each source. In the
// target these are 1,000 runs of 8 bytes, but in each source they are one stretch of 2,000 bytes, which one entry
// reads. The next row's stretch follows it in the source's memory, so add_stretch() extends the entry instead of adding
// another. Gaps of up to kMinGap are read as well. When the region of one source is full, the band's rows are assembled
// and the next band begins.

#include "exchange/pull.hpp"

#include <algorithm>

#include "base/memory/recycled.hpp"
#include "copy/nest.hpp"
#include "exchange/families.hpp"

namespace plait::exchange {

namespace {

using transport::PeerCopy;

/// From this length on, one system copy of a run is faster than two copies through a window.
constexpr std::int64_t kMinRun = 2048;
/// The stretches of a row may have at most this multiple of the row's bytes.
constexpr std::int64_t kMaxExcess = 4;
/// Gaps up to this length are copied together with the stretches on both sides, which costs less than another entry.
constexpr std::int64_t kMinGap = 2048;
/// Maximum buffer size for each peer: a call for less than 256 KiB costs more than its bytes, and much larger buffers
/// would not stay in the caches.
constexpr std::int64_t kPeerBytes = std::int64_t{512} << 10;
/// Maximum size of the buffer, unless two rows need more.
constexpr std::int64_t kCacheBytes = std::int64_t{4} << 20;
/// Maximum number of bytes of one call.
constexpr std::int64_t kMaxAtOnce = std::int64_t{64} << 20;

/// Calls visit(nest) for each nest of loops of a share, in normal form.
template <typename Visit>
void for_each_normal_nest(const Share& share, const copy::LocalArray& source, const copy::LocalArray& target,
                          std::int64_t element_bytes, Visit&& visit) {
  std::vector<Families> families;
  for (const plan::Pieces& pieces : share.pieces) families.push_back(make_families(pieces));
  std::vector<const Families*> family_lists;
  for (const Families& dimension : families) {
    if (dimension.empty()) return;
    family_lists.push_back(&dimension);
  }
  for_each_nest(family_lists, source.strides, target.strides,
                [&](std::int64_t a, std::int64_t b, std::span<const copy::Loop> loops) {
                  visit(copy::normalise(target.data + b, source.data + a, element_bytes, loops));
                });
}

/// Calls visit(target, source) for each run of a nest.
template <typename Visit>
void for_each_run(const copy::Nest& nest, int depth, std::byte* target, const std::byte* source, Visit&& visit) {
  if (depth == 0) {
    visit(target, source);
    return;
  }
  const copy::Loop& loop = nest.loops[depth - 1];
  for (std::int64_t i = 0; i < loop.count; ++i)
    for_each_run(nest, depth - 1, target + i * loop.target_stride, source + i * loop.source_stride, visit);
}

}  // namespace

Pull::Pull(Gather gather, std::size_t node_rank, std::span<const copy::LocalArray> dense,
           const copy::LocalArray& dense_target, std::int64_t memory)
    : gather_(std::move(gather)), node_rank_(node_rank), element_bytes_(gather_.element_bytes()) {
  for (const Share& share : gather_.shares())
    if (share.source != node_rank) peers_.push_back(share.source);
  // Each worker begins with the process after it, so that not all of them read the same one at the same time.
  const auto distance = [&](std::size_t peer) { return (peer + dense.size() - node_rank) % dense.size(); };
  std::sort(peers_.begin(), peers_.end(), [&](auto x, auto y) { return distance(x) < distance(y); });
  peers_.erase(std::unique(peers_.begin(), peers_.end()), peers_.end());
  if (has_long_runs(dense, dense_target)) {
    method_ = Method::kRuns;
  } else if (gather_.rows() != nullptr) {
    plan_rows(dense_target, memory);
  }
}

bool Pull::has_long_runs(std::span<const copy::LocalArray> dense, const copy::LocalArray& target) const {
  for (const Share& share : gather_.shares()) {
    if (share.source == node_rank_) continue;
    bool all_long = true;
    for_each_normal_nest(share, dense[share.source], target, element_bytes_, [&](const copy::Nest& nest) {
      all_long = all_long && (nest.run_bytes == 0 || nest.run_bytes >= kMinRun);
    });
    if (!all_long) return false;
  }
  return true;
}

void Pull::plan_rows(const copy::LocalArray& target, std::int64_t memory) {
  const Rows& rows = *gather_.rows();
  const auto peers = static_cast<std::int64_t>(std::max<std::size_t>(peers_.size(), 1));
  const std::int64_t buffer_bytes =
      std::min({kPeerBytes * peers, std::max(kCacheBytes, 2 * rows.max_read() * peers), memory});
  const bool few_gaps = rows.max_read() <= kMaxExcess * rows.row_bytes();
  // In the worst case a row reads everything from one process.
  if (!rows.fits(target.strides) || !few_gaps || rows.max_read() > buffer_bytes / peers) return;
  buffer_bytes_ = buffer_bytes;
  method_ = Method::kRows;
}

void Pull::run(std::span<const copy::LocalArray> sources, const copy::LocalArray& target,
               const transport::PeerMemory& memory) {
  if (method_ == Method::kRows) {
    pull_rows(sources, target, memory);
    return;
  }
  for (const std::size_t peer : peers_)
    for (const Share& share : gather_.shares())
      if (share.source == peer) pull_runs(share, sources[peer], target, memory);
}

void Pull::pull_runs(const Share& share, const copy::LocalArray& source, const copy::LocalArray& target,
                     const transport::PeerMemory& memory) const {
  constexpr std::size_t kMaxCopies = 512;
  std::vector<PeerCopy> copies;
  std::int64_t bytes = 0;
  const auto read = [&] {
    memory.read(static_cast<int>(share.source), copies);
    copies.clear();
    bytes = 0;
  };
  for_each_normal_nest(share, source, target, element_bytes_, [&](const copy::Nest& nest) {
    for_each_run(nest, nest.depth, nest.target, nest.source, [&](std::byte* to, const std::byte* from) {
      for (std::int64_t done = 0; done < nest.run_bytes; done += kMaxAtOnce) {
        copies.push_back({from + done, to + done, std::min(kMaxAtOnce, nest.run_bytes - done)});
        bytes += copies.back().bytes;
        if (copies.size() == kMaxCopies || bytes >= kMaxAtOnce) read();
      }
    });
  });
  read();
}

/// Consecutive rows [begin, end), the stretches of each source that they read, and where the buffer holds these
/// stretches.
class Pull::Band {
 public:
  /// Divides the buffer into equal regions, one for each peer.
  Band(std::span<const copy::LocalArray> arrays, std::span<const std::size_t> peers, std::byte* buffer,
       std::int64_t region_bytes)
      : arrays_(arrays), peers_(peers), region_bytes_(region_bytes), regions_(arrays.size()) {
    sources_.assign(arrays.begin(), arrays.end());
    for (std::size_t i = 0; i < peers.size(); ++i)
      regions_[peers[i]].memory = buffer + static_cast<std::int64_t>(i) * region_bytes;
  }

  std::int64_t begin() const { return begin_; }
  std::int64_t end() const { return end_; }

  /// Begins an empty band after the last row of this one.
  void begin_next() {
    begin_ = end_;
    shifted_.clear();
    for (Region& region : regions_) {
      region.used = 0;
      region.copies.clear();
    }
  }

  /// Adds the next row if the regions have capacity for its stretches. Returns false otherwise.
  bool add_row(const Rows& rows) {
    stretches_.assign(arrays_.size(), {});
    rows.for_each_read(end_, arrays_, [&](std::size_t source, const std::byte* first, std::int64_t bytes) {
      Stretch& stretch = stretches_[source];
      stretch.begin = stretch.begin == nullptr ? first : std::min(stretch.begin, first);
      stretch.end = stretch.end == nullptr ? first + bytes : std::max(stretch.end, first + bytes);
    });
    for (const std::size_t peer : peers_)
      if (regions_[peer].used + added_bytes(regions_[peer], stretches_[peer]) > region_bytes_) return false;
    for (std::size_t s = 0; s < arrays_.size(); ++s)
      shifted_.push_back(add_stretch(regions_[s], stretches_[s], arrays_[s].data));
    ++end_;
    return true;
  }

  /// Reads the stretches of all rows.
  void read(const transport::PeerMemory& memory) const {
    for (const std::size_t peer : peers_) memory.read(static_cast<int>(peer), regions_[peer].copies);
  }

  /// Returns the sources of a row with addresses such that everything that the row reads is in the buffer.
  std::span<const copy::LocalArray> sources(std::int64_t row) {
    const std::size_t first = static_cast<std::size_t>(row - begin_) * sources_.size();
    for (std::size_t s = 0; s < sources_.size(); ++s) sources_[s].data = shifted_[first + s];
    return sources_;
  }

 private:
  /// The stretch of a source that one row reads: everything from the first byte to the last one.
  struct Stretch {
    const std::byte* begin = nullptr;
    const std::byte* end = nullptr;
  };
  struct Region {
    std::byte* memory = nullptr;  // null if no elements come from the source or it is in this process
    std::int64_t used = 0;
    std::vector<PeerCopy> copies;
  };

  /// True if a stretch begins in the last stretch of a region, or after it with a small gap.
  static bool continues_last(const Region& region, const Stretch& stretch) {
    if (region.copies.empty() || stretch.begin == nullptr) return false;
    const PeerCopy& last = region.copies.back();
    return stretch.begin >= last.from && stretch.begin - (last.from + last.bytes) <= kMinGap;
  }

  /// Returns the number of bytes by which a stretch extends its region, including the gap before it.
  static std::int64_t added_bytes(const Region& region, const Stretch& stretch) {
    if (!continues_last(region, stretch)) return stretch.end - stretch.begin;
    const PeerCopy& last = region.copies.back();
    return std::max<std::int64_t>(stretch.end - (last.from + last.bytes), 0);
  }

  /// Adds the stretch of one row to a region. Returns the address for the row's reads of the source.
  static std::byte* add_stretch(Region& region, const Stretch& stretch, std::byte* array) {
    if (region.memory == nullptr || stretch.begin == nullptr) return array;
    const std::int64_t added = added_bytes(region, stretch);
    if (!continues_last(region, stretch)) region.copies.push_back({stretch.begin, region.memory + region.used, 0});
    PeerCopy& last = region.copies.back();
    last.bytes += added;
    region.used += added;
    // Returns the address that the array's first element would have if the whole array were in the buffer. Only bytes
    // of the stretch are read relative to it.
    return last.to + (array - last.from);
  }

  std::span<const copy::LocalArray> arrays_;
  std::span<const std::size_t> peers_;
  std::int64_t region_bytes_;
  std::vector<Region> regions_;            // one for each source
  std::vector<Stretch> stretches_;         // of the row that is being added
  std::vector<copy::LocalArray> sources_;  // of the row that is being assembled
  std::vector<std::byte*> shifted_;        // addresses of the sources as add_stretch() returns them, row by row
  std::int64_t begin_ = 0;
  std::int64_t end_ = 0;
};

void Pull::pull_rows(std::span<const copy::LocalArray> sources, const copy::LocalArray& target,
                     const transport::PeerMemory& memory) const {
  const Rows& rows = *gather_.rows();
  const base::RecycledBlock buffer(buffer_bytes_);
  Stage stage(gather_.stage_bytes());
  Prefetch prefetch;
  Band band(sources, peers_, buffer.data(),
            buffer_bytes_ / static_cast<std::int64_t>(std::max<std::size_t>(peers_.size(), 1)));
  while (band.end() < rows.count()) {
    band.begin_next();
    while (band.end() < rows.count() && band.add_row(rows)) {
    }
    band.read(memory);
    for (std::int64_t row = band.begin(); row < band.end(); ++row) {
      // While one row is assembled, the next one is prefetched.
      prefetch.clear();
      if (row + 1 < band.end()) rows.reads(row + 1, band.sources(row + 1), prefetch);
      prefetch.spread(rows.ticks(row));
      rows.run(row, band.sources(row), target, stage.data(), prefetch);
    }
  }
  copy::fence();
}

}  // namespace plait::exchange
