#include "access/direct.hpp"

#include <utility>
#include <vector>

#include "collective/stopwatch.hpp"
#include "plan/access/file_requests.hpp"

namespace plait::access {

namespace {

/// Workers that see all arrays share them out.
bool is_mine(const Access& access, const copy::LocalArray& array) {
  return !access.sees_all_arrays || array.rank % access.transport.size() == access.transport.rank();
}

void read_direct(const Access& access) {
  const collective::Stopwatch watch(access.times.io);
  for (const copy::LocalArray& array : access.arrays) {
    if (!is_mine(access, array)) continue;
    std::vector<store::ReadSegment> batch;
    const auto take = [&](std::int64_t offset, std::int64_t position, std::int64_t bytes) {
      batch.push_back({access.data_offset + offset, array.data + position, bytes});
      if (batch.size() == plan::kBatch) access.store.read(std::exchange(batch, {}));
    };
    plan::for_each_direct_run(access.plan, array.rank, array.steps, take);
    if (!batch.empty()) access.store.read(std::move(batch));
  }
}

void write_direct(const Access& access) {
  const collective::Stopwatch watch(access.times.io);
  for (const copy::LocalArray& array : access.arrays) {
    if (!is_mine(access, array)) continue;
    std::vector<store::WriteSegment> batch;
    const auto take = [&](std::int64_t offset, std::int64_t position, std::int64_t bytes) {
      batch.push_back({access.data_offset + offset, array.data + position, bytes});
      if (batch.size() == plan::kBatch) access.store.write(std::exchange(batch, {}));
    };
    plan::for_each_direct_run(access.plan, array.rank, array.steps, take);
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
