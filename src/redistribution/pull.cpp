#include "redistribution/pull.hpp"

#include <algorithm>
#include <memory>

#include "copy/nest.hpp"
#include "redistribution/families.hpp"

namespace plait::redistribution {

namespace {

using transport::PeerCopy;

/// From here on the system copies a run faster than two copies through a window take.
constexpr std::int64_t kLeastRun = 2048;
/// Of all that a row's stretches hold, its own runs must be this part at least.
constexpr std::int64_t kMostExcess = 3;
/// What lies between two stretches is copied with them where it is less: that costs less than one stretch more.
constexpr std::int64_t kLeastGap = 2048;
/// Calls for less than a quarter of a mebibyte cost more than their bytes; much more would leave the caches.
constexpr std::int64_t kPeerBytes = std::int64_t{512} << 10;
constexpr std::int64_t kCacheBytes = std::int64_t{4} << 20;
constexpr std::int64_t kMostAtOnce = std::int64_t{64} << 20;

/// Calls visit(nest) for each nest of loops of a share, in normal form.
template <typename Visit>
void for_each_normal_nest(const Share& share, const copy::LocalArray& source, const copy::LocalArray& target,
                          std::int64_t element_bytes, Visit&& visit) {
  std::vector<Families> families;
  for (const plan::Pieces& pieces : share.pieces) families.push_back(families_of(pieces));
  std::vector<const Families*> each;
  for (const Families& one : families) {
    if (one.empty()) return;
    each.push_back(&one);
  }
  for_each_nest(each, source.steps, target.steps,
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
    for_each_run(nest, depth - 1, target + i * loop.target_step, source + i * loop.source_step, visit);
}

}  // namespace

Pull::Pull(Gather gather, std::size_t mine, std::span<const copy::LocalArray> dense,
           const copy::LocalArray& dense_target, std::int64_t memory)
    : gather_(std::move(gather)), mine_(mine), element_bytes_(gather_.element_bytes()) {
  for (const Share& share : gather_.shares())
    if (share.source != mine) peers_.push_back(share.source);
  // Each begins with the process behind it, so that not all read the same one at the same time.
  const auto distance = [&](std::size_t peer) { return (peer + dense.size() - mine) % dense.size(); };
  std::sort(peers_.begin(), peers_.end(), [&](auto x, auto y) { return distance(x) < distance(y); });
  peers_.erase(std::unique(peers_.begin(), peers_.end()), peers_.end());
  if (has_long_runs(dense, dense_target)) {
    way_ = Way::kRuns;
  } else if (gather_.rows() != nullptr) {
    plan_rows(dense_target, memory);
  }
}

bool Pull::has_long_runs(std::span<const copy::LocalArray> dense, const copy::LocalArray& target) const {
  for (const Share& share : gather_.shares()) {
    if (share.source == mine_) continue;
    bool all_long = true;
    for_each_normal_nest(share, dense[share.source], target, element_bytes_, [&](const copy::Nest& nest) {
      all_long = all_long && (nest.run_bytes == 0 || nest.run_bytes >= kLeastRun);
    });
    if (!all_long) return false;
  }
  return true;
}

void Pull::plan_rows(const copy::LocalArray& target, std::int64_t memory) {
  const Rows& rows = *gather_.rows();
  const auto peers = static_cast<std::int64_t>(std::max<std::size_t>(peers_.size(), 1));
  const std::int64_t wanted =
      std::min({kPeerBytes * peers, std::max(kCacheBytes, 2 * rows.most_read() * peers), memory});
  const bool few_gaps = rows.most_read() <= kMostExcess * rows.row_bytes();
  // In the worst case all that a row reads is of one process.
  if (!rows.fits(target.steps) || !few_gaps || rows.most_read() > wanted / peers) return;
  buffer_bytes_ = wanted;
  way_ = Way::kRows;
}

void Pull::run(std::span<const copy::LocalArray> sources, const copy::LocalArray& target,
               const transport::PeerMemory& memory) {
  if (way_ == Way::kRows) {
    pull_rows(sources, target, memory);
    return;
  }
  for (const std::size_t peer : peers_)
    for (const Share& share : gather_.shares())
      if (share.source == peer) pull_runs(share, sources[peer], target, memory);
}

void Pull::pull_runs(const Share& share, const copy::LocalArray& source, const copy::LocalArray& target,
                     const transport::PeerMemory& memory) const {
  constexpr std::size_t kMostCopies = 512;
  std::vector<PeerCopy> copies;
  std::int64_t bytes = 0;
  const auto read = [&] {
    memory.read(static_cast<int>(share.source), copies);
    copies.clear();
    bytes = 0;
  };
  for_each_normal_nest(share, source, target, element_bytes_, [&](const copy::Nest& nest) {
    for_each_run(nest, nest.depth, nest.target, nest.source, [&](std::byte* to, const std::byte* from) {
      for (std::int64_t done = 0; done < nest.run_bytes; done += kMostAtOnce) {
        copies.push_back({from + done, to + done, std::min(kMostAtOnce, nest.run_bytes - done)});
        bytes += copies.back().bytes;
        if (copies.size() == kMostCopies || bytes >= kMostAtOnce) read();
      }
    });
  });
  read();
}

/// The rows [begin, end), what they read of each source, and where that is in the buffer.
struct Pull::Band {
  /// What one row reads of a source: everything from the first byte to the last one.
  struct Stretch {
    const std::byte* begin = nullptr;
    const std::byte* end = nullptr;
  };
  struct Region {
    std::byte* memory = nullptr;
    std::int64_t used = 0;
    std::vector<PeerCopy> copies;
  };

  std::int64_t region_bytes = 0;
  std::vector<Region> regions;            // of each source; none where it gives nothing, or is this process's
  std::vector<Stretch> stretches;         // of the row that is looked at
  std::vector<copy::LocalArray> sources;  // of each row in turn, as they seem to lie where their stretches are
  std::vector<std::byte*> seeming;        // addresses of the sources, row by row
  std::int64_t begin = 0;
  std::int64_t end = 0;

  void clear(std::int64_t first) {
    begin = end = first;
    seeming.clear();
    for (Region& region : regions) {
      region.used = 0;
      region.copies.clear();
    }
  }

  /// How many bytes more of its region a stretch takes, with what lies before it.
  static std::int64_t more(const Region& region, const Stretch& stretch) {
    if (!region.copies.empty()) {
      const PeerCopy& last = region.copies.back();
      const std::byte* const last_end = last.from + last.bytes;
      if (stretch.begin >= last.from && stretch.begin - last_end <= kLeastGap)
        return std::max<std::int64_t>(stretch.end - last_end, 0);
    }
    return stretch.end - stretch.begin;
  }

  /// Takes a row in, if there is room for what it reads.
  bool take(const Rows& rows, std::span<const copy::LocalArray> arrays) {
    stretches.assign(arrays.size(), {});
    rows.for_each_read(end, arrays, [&](std::size_t source, const std::byte* first, std::int64_t bytes) {
      Stretch& stretch = stretches[source];
      stretch.begin = stretch.begin == nullptr ? first : std::min(stretch.begin, first);
      stretch.end = stretch.end == nullptr ? first + bytes : std::max(stretch.end, first + bytes);
    });
    for (std::size_t s = 0; s < arrays.size(); ++s)
      if (regions[s].memory != nullptr && regions[s].used + more(regions[s], stretches[s]) > region_bytes) return false;
    for (std::size_t s = 0; s < arrays.size(); ++s) seeming.push_back(place(regions[s], stretches[s], arrays[s].data));
    ++end;
    return true;
  }

  static std::byte* place(Region& region, const Stretch& stretch, std::byte* array) {
    if (region.memory == nullptr || stretch.begin == nullptr) return array;
    const std::int64_t longer = more(region, stretch);
    if (region.copies.empty() || stretch.begin < region.copies.back().from ||
        stretch.begin - (region.copies.back().from + region.copies.back().bytes) > kLeastGap) {
      region.copies.push_back({stretch.begin, region.memory + region.used, 0});
    }
    PeerCopy& last = region.copies.back();
    last.bytes += longer;
    region.used += longer;
    return last.to + (array - last.from);
  }
};

void Pull::pull_rows(std::span<const copy::LocalArray> sources, const copy::LocalArray& target,
                     const transport::PeerMemory& memory) const {
  const Rows& rows = *gather_.rows();
  const std::unique_ptr<std::byte[]> buffer(new std::byte[static_cast<std::size_t>(buffer_bytes_)]);
  Stage stage(gather_.stage_bytes());
  Prefetch prefetch;  // of nothing: all is in the caches
  Band band;
  band.regions.resize(sources.size());
  band.sources.assign(sources.begin(), sources.end());
  band.region_bytes = buffer_bytes_ / static_cast<std::int64_t>(std::max<std::size_t>(peers_.size(), 1));
  for (std::size_t i = 0; i < peers_.size(); ++i)
    band.regions[peers_[i]].memory = buffer.get() + static_cast<std::int64_t>(i) * band.region_bytes;
  while (band.end < rows.count()) {
    band.clear(band.end);
    while (band.end < rows.count() && band.take(rows, sources)) {
    }
    for (const std::size_t peer : peers_) memory.read(static_cast<int>(peer), band.regions[peer].copies);
    for (std::int64_t row = band.begin; row < band.end; ++row) {
      const auto first = static_cast<std::size_t>(row - band.begin) * sources.size();
      for (std::size_t s = 0; s < sources.size(); ++s) band.sources[s].data = band.seeming[first + s];
      rows.run(row, band.sources, target, stage.data(), prefetch);
    }
  }
  copy::settle();
}

}  // namespace plait::redistribution
