// Direct accesses: each rank reads or writes the elements that it owns, without windows or messages.
//
// Problem: a rank's elements are products of strided loops. Listing each run as a segment of a request costs the system
// about 20 ns per run, which dominates if runs are a few bytes long.
//
// Idea: for each nest of loops, take the longest run that is contiguous in both the file and the array. Long runs
// become segments of requests, kBatch at a time. If runs are short only because memory has another order than the file,
// whole rows of the file go through a buffer, and a copy kernel distributes them (plan::ScatteredRows).
//
// Example: rank 1 of `1000x1000 (block, *) onto (4)` reads doubles. If its array is in C order, its 250 rows are a
// single run of 2 MB at file offset 2,000,000: one segment. If its array is in Fortran order, runs have 8 bytes, and
// there are 250,000 of them. Rows of the file have 8000 bytes, so a buffer of 1 MiB holds 131 of them: two requests, of
// 131 and 119 rows, and two copies replace the 250,000 segments.

#include "access/direct.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "collective/stopwatch.hpp"
#include "copy/strided_copy.hpp"
#include "plan/access/file_requests.hpp"
#include "plan/access/scattered_rows.hpp"

namespace plait::access {

namespace {

/// Returns the loops that copy `count` rows from the buffer to the array. The buffer is dense, so its rows are
/// row_bytes apart, and within a row the file's strides apply.
std::vector<copy::Loop> make_loops_to_array(const plan::ScatteredRows& rows, std::int64_t count) {
  std::vector<copy::Loop> loops{{count, rows.row_bytes, rows.rows.b_stride}};
  for (const plan::NestLoop& loop : rows.row) loops.push_back({loop.count, loop.a_stride, loop.b_stride});
  return loops;
}

/// Returns the loops of the opposite copy, from the array to the buffer.
std::vector<copy::Loop> make_loops_to_buffer(const plan::ScatteredRows& rows, std::int64_t count) {
  std::vector<copy::Loop> loops = make_loops_to_array(rows, count);
  for (copy::Loop& loop : loops) std::swap(loop.source_stride, loop.target_stride);
  return loops;
}

/// The operations of DirectPart for reads; WriteTraits has those for writes.
struct ReadTraits {
  using Segment = store::ReadSegment;
  static void submit(const Access& access, std::vector<Segment> batch) { access.store.read(std::move(batch)); }
  static void move_block(const Access& access, std::vector<Segment> batch, std::byte* array, std::byte* buffer,
                         std::vector<copy::Loop> rows) {
    access.store.read(std::move(batch));
    copy::strided_copy(array, buffer, access.plan.element_bytes(), rows);
  }
  static constexpr auto loops = make_loops_to_array;
};

struct WriteTraits {
  using Segment = store::WriteSegment;
  static void submit(const Access& access, std::vector<Segment> batch) { access.store.write(std::move(batch)); }
  static void move_block(const Access& access, std::vector<Segment> batch, std::byte* array, std::byte* buffer,
                         std::vector<copy::Loop> rows) {
    // The store reads the buffer next, so the copy leaves it in the caches.
    copy::strided_copy(buffer, array, access.plan.element_bytes(), rows, copy::Destination::kCaches);
    access.store.write(std::move(batch));
  }
  static constexpr auto loops = make_loops_to_buffer;
};

/// Reads or writes the part of one rank directly.
template <typename Direction>
class DirectPart {
 public:
  DirectPart(const Access& access, const copy::LocalArray& array) : access_(access), array_(array) {}

  void move() {
    plan::for_each_direct_nest(access_.plan, array_.rank, array_.strides, [&](plan::Nest& nest) {
      if (auto rows = plan::find_scattered_rows(nest, access_.plan)) return move_rows(*rows);
      const std::int64_t run_bytes = plan::take_run(nest, access_.plan.element_bytes());
      plan::for_each_iteration(nest, [&](std::int64_t file_offset, std::int64_t array_offset) {
        batch_.push_back({access_.data_offset + file_offset, array_.data + array_offset, run_bytes});
        if (batch_.size() == plan::kBatch) submit_batch();
      });
    });
    submit_batch();
  }

 private:
  void submit_batch() {
    if (!batch_.empty()) Direction::submit(access_, std::exchange(batch_, {}));
  }
  /// Moves rows of the file through the buffer, as many at a time as it holds.
  void move_rows(plan::ScatteredRows& rows) {
    submit_batch();
    buffer_.resize(std::max(buffer_.size(), static_cast<std::size_t>(rows.buffer_bytes())));
    rows.for_each_block([&](std::int64_t file_offset, std::int64_t array_offset, std::int64_t count) {
      std::vector<typename Direction::Segment> batch;
      rows.for_each_stretch(file_offset, count,
                            [&](std::int64_t offset, std::int64_t buffer_offset, std::int64_t bytes) {
                              batch.push_back({access_.data_offset + offset, buffer_.data() + buffer_offset, bytes});
                            });
      Direction::move_block(access_, std::move(batch), array_.data + array_offset, buffer_.data(),
                            Direction::loops(rows, count));
    });
  }

  const Access& access_;
  const copy::LocalArray& array_;
  std::vector<typename Direction::Segment> batch_;
  std::vector<std::byte> buffer_;
};

/// Returns true if this worker moves the array: workers that see all arrays divide them among themselves by rank.
bool is_assigned(const Access& access, const copy::LocalArray& array) {
  return !access.sees_all_arrays || array.rank % access.transport.size() == access.transport.rank();
}

template <typename Direction>
class DirectMove : public Move {
 public:
  explicit DirectMove(const Access& access) : access_(access) {}
  void run() override {
    const collective::Stopwatch watch(access_.times.io);
    for (const copy::LocalArray& array : access_.arrays)
      if (is_assigned(access_, array)) DirectPart<Direction>(access_, array).move();
  }

 private:
  Access access_;
};

}  // namespace

std::unique_ptr<Move> make_direct_read(const Access& access) {
  return std::make_unique<DirectMove<ReadTraits>>(access);
}

std::unique_ptr<Move> make_direct_write(const Access& access) {
  return std::make_unique<DirectMove<WriteTraits>>(access);
}

}  // namespace plait::access
