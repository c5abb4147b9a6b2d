// Makes the requests that fill a window from a store or flush it.
//
// A contiguous range is one request, submitted ahead. Other ranges consist of runs (plan::for_each_file_run). Long runs
// are read directly into the window, kBatch = 1024 of them in one request. All runs of a window are one request if
// requests of the store take long; the store then divides it. Short runs of other stores that are near each other are
// read by a sieve: one read covers several runs and the gaps between them, and the runs are copied out.
//
// Example: the region [:, 0:500] of 1000x1000 doubles has runs of 4000 bytes with gaps of 4000 bytes. The first window
// of 1 MiB has 131,072 elements in 263 runs, the last of them cut. A read of 256 KiB covers 33 runs, as 32 * 8000 +
// 4000 = 260,000 bytes, so that 8 reads fill the window. The region [:, 0:600] has runs of 4800 bytes, longer than
// kSieveGap = 4096, and is read in batches. The region [:, 0:100] has gaps of 7200 bytes, so each of its runs is read
// separately.
//
// Writes never use a sieve, because it would rewrite bytes of other ranks in the gaps.

#include "access/window_io.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "plan/access/file_requests.hpp"

namespace plait::access {

namespace {

using plan::FileRun;
using Range = plan::PositionRange;

/// A list of segments takes at most 1/kListShare of the memory of its window: if runs are short, the list would need
/// more memory than the data.
constexpr std::size_t kListShare = 2;
/// The share is smaller for remote stores, because they derive further lists from that of a read, such as those of
/// chunks and of requests.
constexpr std::size_t kRemoteListShare = 8;

/// Returns the maximum number of segments in a list that takes 1/share of the memory of its window, but at least
/// kBatch.
std::size_t max_segments(Range range, std::int64_t element_bytes, std::size_t share) {
  const auto bytes = static_cast<std::size_t>(range.size() * element_bytes);
  return std::max(plan::kBatch, bytes / share / sizeof(store::ReadSegment));
}

/// Returns true if a segment follows another one both in the store and in memory.
bool is_continued_by(const store::ReadSegment& before, const store::ReadSegment& segment) {
  return before.offset + before.bytes == segment.offset && before.data + before.bytes == segment.data;
}

}  // namespace

void WindowIo::start_read(Range range, std::byte* window) {
  range_ = range;
  window_ = window;
  pending_ = nullptr;
  if (range.empty() || !plan_.section().contiguous()) return;
  const std::int64_t element_bytes = plan_.element_bytes();
  pending_ = store_.submit_read(
      {{data_offset_ + (plan_.section().origin + range.begin) * element_bytes, window, range.size() * element_bytes}});
}

void WindowIo::finish_read() {
  if (range_.empty()) return;
  if (pending_) {
    std::exchange(pending_, nullptr)->complete();
  } else if (plan_.sieve_bytes() > 0) {
    read_by_sieve(range_, window_);
  } else {
    read_in_batches(range_, window_);
  }
}

void WindowIo::read_in_batches(Range range, std::byte* window) {
  const std::int64_t element_bytes = plan_.element_bytes();
  const std::size_t max_batch =
      plan_.options().window_bytes > 0 ? max_segments(range, element_bytes, kRemoteListShare) : plan::kBatch;
  const std::int64_t chunk_elements = plan_.section().chunks ? plan_.section().chunks->padded_elements() : 0;
  std::vector<store::ReadSegment> batch;
  plan::for_each_file_run(plan_.section(), range.begin, range.end, [&](const FileRun& run) {
    const store::ReadSegment segment{data_offset_ + run.file * element_bytes,
                                     window + (run.position - range.begin) * element_bytes,
                                     run.elements * element_bytes};
    // The rows of a chunk often follow each other on both sides.
    const bool begins_chunk = chunk_elements > 0 && run.file % chunk_elements == 0;
    if (!begins_chunk && !batch.empty() && is_continued_by(batch.back(), segment)) {
      batch.back().bytes += segment.bytes;
      return;
    }
    if (batch.size() == max_batch) store_.read(std::exchange(batch, {}));
    batch.push_back(segment);
  });
  if (!batch.empty()) store_.read(std::move(batch));
}

void WindowIo::read_by_sieve(Range range, std::byte* window) {
  // Copies only the runs out of each covering read; the gaps between them are dropped.
  const std::int64_t element_bytes = plan_.element_bytes();
  plan::for_each_cover(plan_, range, [&](std::span<const FileRun> group) {
    const std::int64_t first = group.front().file;
    const std::int64_t cover_elements = group.back().file + group.back().elements - first;
    store_.read({{data_offset_ + first * element_bytes, sieve_.data(), cover_elements * element_bytes}});
    for (const FileRun& run : group)
      std::memcpy(window + (run.position - range.begin) * element_bytes,
                  sieve_.data() + (run.file - first) * element_bytes,
                  static_cast<std::size_t>(run.elements * element_bytes));
  });
}

void WindowIo::write(Range range, const std::byte* window) {
  const std::int64_t element_bytes = plan_.element_bytes();
  // The runs of one chunk go into one write, because the store may have to compress the chunk as a whole.
  const std::int64_t chunk_elements = plan_.section().chunks ? plan_.section().chunks->padded_elements() : 0;
  const std::size_t max_batch = max_segments(range, element_bytes, kListShare);
  std::int64_t last_chunk = -1;
  std::vector<store::WriteSegment> batch;
  plan::for_each_file_run(plan_.section(), range.begin, range.end, [&](const FileRun& run) {
    const std::int64_t run_chunk = chunk_elements > 0 ? run.file / chunk_elements : 0;
    if (batch.size() >= (run_chunk != last_chunk || chunk_elements == 0 ? plan::kBatch : max_batch))
      store_.write(std::exchange(batch, {}));
    last_chunk = run_chunk;
    batch.push_back({data_offset_ + run.file * element_bytes, window + (run.position - range.begin) * element_bytes,
                     run.elements * element_bytes});
  });
  if (!batch.empty()) store_.write(std::move(batch));
}

}  // namespace plait::access
