#include "access/direct.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "collective/stopwatch.hpp"
#include "plan/conversion/runs.hpp"

namespace plait::access {

namespace {

/// Calls visit(position on side a, position on side b) for each step of a nest, ascending on side a.
template <typename Visit>
void for_each_step(plan::Nest& nest, Visit&& visit) {
  std::sort(nest.loops.begin(), nest.loops.end(),
            [](const plan::NestLoop& a, const plan::NestLoop& b) { return a.a_step > b.a_step; });
  std::vector<std::int64_t> index(nest.loops.size(), 0);
  std::int64_t a = nest.a;
  std::int64_t b = nest.b;
  while (true) {
    visit(a, b);
    std::size_t i = nest.loops.size();
    for (; i > 0; --i) {
      const plan::NestLoop& loop = nest.loops[i - 1];
      a += loop.a_step;
      b += loop.b_step;
      if (++index[i - 1] < loop.count) break;
      index[i - 1] = 0;
      a -= loop.a_step * loop.count;
      b -= loop.b_step * loop.count;
    }
    if (i == 0) return;
  }
}

/// Calls visit(file offset in bytes, position in the array in bytes, bytes) for each run of a rank, each nest in file
/// order.
template <typename Visit>
void for_each_run(const Access& access, const copy::LocalArray& array, Visit&& visit) {
  const plan::AccessPlan& plan = access.plan;
  const plan::Section& section = plan.section();
  const std::int64_t base = access.data_offset + section.origin * plan.element_bytes();
  const Extents array_steps = plan.local_steps(array.steps);
  for (const plan::Holding& own : plan.holdings(array.rank)) {
    std::vector<plan::Pieces> pieces;
    Extents file_steps;
    std::int64_t first_position = 0;
    for (std::size_t d = 0; d < own.sets.size(); ++d) {
      pieces.push_back(plan::intersect(IndexSet::range(0, section.shape[d]), own.sets[d]));
      file_steps.push_back(section.steps[d] * plan.element_bytes());
      first_position += own.positions[d] * array_steps[d];
    }
    plan::for_each_nest(pieces, file_steps, array_steps, [&](plan::Nest& nest) {
      const std::int64_t run = plan::take_run(nest, plan.element_bytes());
      for_each_step(
          nest, [&](std::int64_t file, std::int64_t position) { visit(base + file, first_position + position, run); });
    });
  }
}

/// Workers that see all arrays share them out.
bool is_mine(const Access& access, const copy::LocalArray& array) {
  return !access.sees_all_arrays || array.rank % access.transport.size() == access.transport.rank();
}

/// Segments of one batch: bounds the memory of a part of many short runs.
constexpr std::size_t kBatch = 1024;

void read_direct(const Access& access) {
  const collective::Stopwatch watch(access.times.io);
  for (const copy::LocalArray& array : access.arrays) {
    if (!is_mine(access, array)) continue;
    std::vector<store::ReadSegment> batch;
    for_each_run(access, array, [&](std::int64_t offset, std::int64_t position, std::int64_t bytes) {
      batch.push_back({offset, array.data + position, bytes});
      if (batch.size() == kBatch) access.store.read(std::exchange(batch, {}));
    });
    if (!batch.empty()) access.store.read(std::move(batch));
  }
}

void write_direct(const Access& access) {
  const collective::Stopwatch watch(access.times.io);
  for (const copy::LocalArray& array : access.arrays) {
    if (!is_mine(access, array)) continue;
    std::vector<store::WriteSegment> batch;
    for_each_run(access, array, [&](std::int64_t offset, std::int64_t position, std::int64_t bytes) {
      batch.push_back({offset, array.data + position, bytes});
      if (batch.size() == kBatch) access.store.write(std::exchange(batch, {}));
    });
    if (!batch.empty()) access.store.write(std::move(batch));
  }
}

class DirectMove : public Move {
 public:
  DirectMove(const Access& access, void (*body)(const Access&)) : access_(access), body_(body) {}
  void run() override { body_(access_); }

 private:
  Access access_;
  void (*body_)(const Access&);
};

}  // namespace

std::unique_ptr<Move> make_direct_read(const Access& access) {
  return std::make_unique<DirectMove>(access, read_direct);
}

std::unique_ptr<Move> make_direct_write(const Access& access) {
  return std::make_unique<DirectMove>(access, write_direct);
}

}  // namespace plait::access
