#include "access/window_io.hpp"

#include <cstring>
#include <span>

#include "plan/access/file_requests.hpp"

namespace plait::access {

namespace {

using plan::FileRun;
using Range = plan::PositionRange;

}  // namespace

void WindowIo::start_read(Range range, std::byte* window) {
  range_ = range;
  window_ = window;
  pending_ = nullptr;
  if (range.empty() || !plan_.section().contiguous()) return;
  const std::int64_t bytes = plan_.element_bytes();
  pending_ = store_.submit_read(
      {{data_offset_ + (plan_.section().origin + range.begin) * bytes, window, range.size() * bytes}});
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
  const std::int64_t bytes = plan_.element_bytes();
  std::vector<store::ReadSegment> batch;
  plan::for_each_file_run(plan_.section(), range.begin, range.end, [&](const FileRun& run) {
    batch.push_back(
        {data_offset_ + run.file * bytes, window + (run.position - range.begin) * bytes, run.elements * bytes});
    if (batch.size() == plan::kBatch) store_.read(std::exchange(batch, {}));
  });
  if (!batch.empty()) store_.read(std::move(batch));
}

void WindowIo::read_by_sieve(Range range, std::byte* window) {
  // Short runs near each other: read the stretch that covers several of them and keep one's own.
  const std::int64_t bytes = plan_.element_bytes();
  plan::for_each_cover(plan_, range, [&](std::span<const FileRun> group) {
    const std::int64_t first = group.front().file;
    const std::int64_t cover = group.back().file + group.back().elements - first;
    store_.read({{data_offset_ + first * bytes, sieve_.data(), cover * bytes}});
    for (const FileRun& run : group)
      std::memcpy(window + (run.position - range.begin) * bytes, sieve_.data() + (run.file - first) * bytes,
                  static_cast<std::size_t>(run.elements * bytes));
  });
}

void WindowIo::write(Range range, const std::byte* window) {
  const std::int64_t bytes = plan_.element_bytes();
  // What a chunk gets goes together, since it may have to be packed as a whole; but what tells of short runs takes no
  // more memory than half of their window.
  const std::int64_t chunk = plan_.section().chunks ? plan_.section().chunks->room() : 0;
  const auto most =
      std::max(plan::kBatch, static_cast<std::size_t>(range.size() * bytes / 2) / sizeof(store::WriteSegment));
  std::int64_t last = -1;
  std::vector<store::WriteSegment> batch;
  plan::for_each_file_run(plan_.section(), range.begin, range.end, [&](const FileRun& run) {
    const std::int64_t own = chunk > 0 ? run.file / chunk : 0;
    if (batch.size() >= (own != last || chunk == 0 ? plan::kBatch : most)) store_.write(std::exchange(batch, {}));
    last = own;
    batch.push_back(
        {data_offset_ + run.file * bytes, window + (run.position - range.begin) * bytes, run.elements * bytes});
  });
  if (!batch.empty()) store_.write(std::move(batch));
}

}  // namespace plait::access
