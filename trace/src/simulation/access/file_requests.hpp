/// The file requests of one rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/access/file_requests.hpp"
#include "plan/access/scattered_rows.hpp"
#include "plan/conversion/partners.hpp"

namespace plait::simulation {

/// Requests in the order in which a rank issues them. Requests of one batch that are adjacent in the file are joined,
/// as store::posix joins them.
class FileRequests {
 public:
  struct Request {
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
  };
  void add(std::int64_t offset, std::int64_t bytes) {
    if (in_batch_ > 0 && all_.back().offset + all_.back().bytes == offset) {
      all_.back().bytes += bytes;
    } else {
      all_.push_back({offset, bytes});
    }
    if (++in_batch_ == plan::kBatch) in_batch_ = 0;
  }
  /// Ends the current batch.
  void end_batch() { in_batch_ = 0; }
  /// Adds a request that is a batch by itself.
  void add_alone(std::int64_t offset, std::int64_t bytes) {
    all_.push_back({offset, bytes});
    in_batch_ = 0;
  }
  const std::vector<Request>& all() const { return all_; }

 private:
  std::vector<Request> all_;
  std::size_t in_batch_ = 0;
};

/// Generates the requests of a rank that accesses its part directly.
inline FileRequests make_direct_requests(const plan::AccessPlan& plan, std::int64_t rank, std::int64_t data_offset) {
  FileRequests all;
  const auto add = [&](std::int64_t offset, std::int64_t /*position*/, std::int64_t bytes) {
    all.add(data_offset + offset, bytes);
  };
  const Extents strides = plan::dense_strides(plan.layout().padded_shape(rank), plan.layout().order());
  plan::for_each_direct_nest(plan, rank, plan::in_bytes(strides, plan.element_bytes()), [&](plan::Nest& nest) {
    if (auto rows = plan::find_scattered_rows(nest, plan)) {
      all.end_batch();
      return rows->for_each_block([&](std::int64_t file, std::int64_t /*array*/, std::int64_t count) {
        rows->for_each_stretch(file, count, add);
        all.end_batch();
      });
    }
    const std::int64_t run = plan::take_run(nest, plan.element_bytes());
    plan::for_each_iteration(nest, [&](std::int64_t file, std::int64_t position) { add(file, position, run); });
  });
  return all;
}

/// Generates the requests of one window, in the order of access::WindowIo.
inline FileRequests make_window_requests(const plan::AccessPlan& plan, plan::PositionRange range, bool write,
                                         std::int64_t data_offset) {
  const std::int64_t bytes = plan.element_bytes();
  FileRequests all;
  if (range.empty()) return all;
  const auto offset = [&](std::int64_t position) { return data_offset + position * bytes; };
  if (!write && plan.sieve_bytes() > 0) {
    plan::for_each_cover(plan, range, [&](std::span<const plan::FileRun> group) {
      const std::int64_t end = group.back().file + group.back().elements;
      all.add_alone(offset(group.front().file), (end - group.front().file) * bytes);
    });
  } else {
    plan::for_each_file_run(plan.section(), range.begin, range.end,
                            [&](const plan::FileRun& run) { all.add(offset(run.file), run.elements * bytes); });
  }
  return all;
}

}  // namespace plait::simulation
