// Accesses to arrays in chunks by teams of threads, compared with copies element by element.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "access/access.hpp"
#include "chunk_case.hpp"
#include "collective/agree.hpp"
#include "collective/collective.hpp"
#include "plan/access/planner.hpp"
#include "transport/thread/team.hpp"
#include "wrapped_transport.hpp"

namespace {

using access_case::Bytes;
using access_case::Case;
using access_case::pick;
using access_case::Random;
using chunk_case::ChunkedStore;
using plait::Extents;
using plait::copy::LocalArray;
using plait::plan::AccessOptions;
using plait::plan::AccessPlan;
using plait::plan::Section;
using plait::transport::Transport;

constexpr std::byte kElsewhere{0xE1};

/// An access to an array in chunks, and how the workers perform it.
struct ChunkedCase : Case {
  Extents chunk;
  AccessOptions options;
  int workers_per_node = 0;  // number of workers on each node; 0: all on one node
};

/// Performs the access on all workers, each through its own view of the bytes. Returns the views.
std::vector<std::unique_ptr<ChunkedStore>> run_access(const ChunkedCase& access, Bytes& bytes,
                                                      const std::vector<LocalArray>& arrays, bool write) {
  const auto workers = static_cast<int>(arrays.size());
  std::vector<std::unique_ptr<ChunkedStore>> views;
  for (int i = 0; i < workers; ++i)
    views.push_back(
        std::make_unique<ChunkedStore>(bytes, access.offset, chunk_case::product(access.chunk) * access.element_bytes));
  const auto access_as_worker = [&](Transport& transport) {
    plait::collective::prepare(transport);
    const auto rank = static_cast<std::size_t>(transport.rank());
    const AccessPlan plan =
        plan_access(Section(access.file_shape, access.file_order, access.region, access.chunk), access.layout,
                    {access.element_bytes, access.offset, workers, transport.nodes_apart(), write}, access.options);
    plait::collective::Times times;
    const plait::access::Access parts{plan,  *views[rank], access.offset, transport, std::span(arrays).subspan(rank, 1),
                                      false, times};
    const auto operation = write ? plait::access::make_write(parts) : plait::access::make_read(parts);
    plait::collective::agree(transport, "the same", nullptr);
    plait::collective::agree(transport, plait::collective::caught([&] { operation->run(); }));
  };
  plait::transport::thread::run_team(workers, [&](Transport& transport) {
    if (access.workers_per_node == 0) return access_as_worker(transport);
    wrapped::SeveralNodes nodes(transport, access.workers_per_node);
    access_as_worker(nodes);
  });
  return views;
}

void expect_one_worker_per_chunk(const std::vector<std::unique_ptr<ChunkedStore>>& views) {
  std::map<std::int64_t, int> touched;
  for (const auto& view : views) {
    EXPECT_FALSE(view->crossed_a_chunk_border());
    for (const std::int64_t chunk : view->touched()) ++touched[chunk];
  }
  for (const auto& [chunk, workers] : touched) EXPECT_EQ(workers, 1) << "chunk " << chunk;
}

/// Reads and writes, and compares the local arrays and the store with the expected content.
void check(const ChunkedCase& access) {
  const Bytes flat = access_case::pattern(access_case::store_bytes(access));
  const std::vector<Bytes> expected = access_case::make_locals(access, flat);
  Bytes bytes = chunk_case::to_chunks(access, access.chunk, flat, kElsewhere);

  std::vector<Bytes> locals;
  for (const Bytes& local : expected) locals.emplace_back(local.size(), kElsewhere);
  const auto read =
      run_access(access, bytes, access_case::arrays_over(access.layout, locals, access.element_bytes), false);
  ASSERT_TRUE(locals == expected);
  expect_one_worker_per_chunk(read);

  std::fill(bytes.begin(), bytes.end(), kElsewhere);
  const auto written =
      run_access(access, bytes, access_case::arrays_over(access.layout, locals, access.element_bytes), true);
  Bytes after = access_case::store_after_write(access, flat, kElsewhere);
  ASSERT_TRUE(bytes == chunk_case::to_chunks(access, access.chunk, after, kElsewhere));
  ASSERT_TRUE(locals == expected);
  expect_one_worker_per_chunk(written);
}

TEST(ChunkedAccess, EachChunkIsAccessedByOneWorkerAndHasTheRightElements) {
  Random random(7);
  for (int i = 0; i < (oracle::kSanitized ? 100 : 600); ++i) {
    ChunkedCase access;
    static_cast<Case&>(access) = access_case::random_case(random, pick(random, 1, 4), {1, 3, 8, 1000, 4096, 40'000});
    if (access.file_shape.empty()) continue;
    access.chunk = chunk_case::random_chunk(random, access.file_shape);
    access.options.readers = pick(random, 0, access.layout.size());
    access.options.memory_bytes = pick(random, std::vector<std::int64_t>{0, 5, 9, 24, 64}) * access.element_bytes;
    access.workers_per_node = static_cast<int>(pick(random, 0, 2));
    SCOPED_TRACE(testing::Message() << access_case::describe(access) << " in chunks of "
                                    << plait::shape_to_string(access.chunk) << ", memory "
                                    << access.options.memory_bytes << ", readers " << access.options.readers << ", "
                                    << access.workers_per_node << " workers on a node");
    ASSERT_NO_FATAL_FAILURE(check(access));
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
