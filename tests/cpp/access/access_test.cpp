// Accesses by teams of threads, compared with copies element by element; and accesses to stores that fail.
#include "access/access.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <thread>

#include "access_case.hpp"
#include "collective/agree.hpp"
#include "collective/collective.hpp"
#include "job_case.hpp"
#include "plait/error.hpp"
#include "plan/access/planner.hpp"
#include "store/memory/memory_store.hpp"
#include "transport/thread/team.hpp"
#include "wrapped_transport.hpp"

namespace {

using access_case::Bytes;
using access_case::Case;
using access_case::pick;
using access_case::Random;
using oracle::to_size_t;
using plait::Distribution;
using plait::Error;
using plait::Extents;
using plait::Layout;
using plait::Order;
using plait::copy::LocalArray;
using plait::plan::AccessOptions;
using plait::plan::AccessPlan;
using plait::plan::Section;
using plait::plan::Strategy;
using plait::store::memory::MemoryStore;
using plait::transport::Transport;
using plait::transport::thread::run_team;

constexpr std::byte kUntouched{0xE1};

/// Performs one access by the calls that a file makes: prepare, agree, run, agree. sees_all: the workers are threads
/// that have the arrays of all ranks; otherwise each has the array of its own rank.
void access_as(Transport& transport, const Case& access, const AccessOptions& options, MemoryStore& store,
               std::span<const LocalArray> arrays, bool sees_all, bool write) {
  plait::collective::prepare(transport);
  const AccessPlan plan = plan_access(
      Section(access.file_shape, access.file_order, access.region), access.layout,
      {access.element_bytes, access.offset, transport.size(), transport.nodes_apart(), write, transport.nodes()},
      options);
  plait::collective::Times times;
  const plait::access::Access parts{plan, store, access.offset, transport, arrays, sees_all, times};
  const auto access_operation = write ? plait::access::make_write(parts) : plait::access::make_read(parts);
  plait::collective::agree(transport, "the same", nullptr);
  plait::collective::agree(transport, plait::collective::caught([&] { access_operation->run(); }));
}

/// Returns the arrays that a worker passes: all of them, or only that of its own rank.
std::span<const LocalArray> worker_arrays(const std::vector<LocalArray>& arrays, int worker, bool sees_all) {
  return sees_all ? std::span(arrays) : std::span(arrays).subspan(static_cast<std::size_t>(worker), 1);
}

/// The value of `workers_per_node` for workers on one node, each of which behaves as a process.
constexpr int kProcesses = -1;

/// Runs `body` on each of `workers` workers, at most `workers_per_node` of them on each node; 0 puts all on one node.
void run_on_nodes(int workers, int workers_per_node, const std::function<void(Transport&)>& body) {
  if (workers_per_node == kProcesses) return job_case::run_job(workers, body);
  run_team(workers, [&](Transport& transport) {
    if (workers_per_node == 0) {
      body(transport);
    } else {
      wrapped::SeveralNodes nodes(transport, workers_per_node);
      body(nodes);
    }
  });
}

void expect_read(const Case& access, const AccessOptions& options, int workers, bool sees_all,
                 int workers_per_node = 0) {
  MemoryStore store(access_case::store_bytes(access));
  store.bytes() = access_case::pattern(store.size());
  const std::vector<Bytes> expected = access_case::make_locals(access, store.bytes());
  std::vector<Bytes> locals;
  for (const Bytes& local : expected) locals.emplace_back(local.size(), kUntouched);
  const auto arrays = access_case::arrays_over(access.layout, locals, access.element_bytes);
  run_on_nodes(workers, workers_per_node, [&](Transport& transport) {
    access_as(transport, access, options, store, worker_arrays(arrays, transport.rank(), sees_all), sees_all,
              /*write=*/false);
  });
  ASSERT_TRUE(locals == expected);
}

void expect_write(const Case& access, const AccessOptions& options, int workers, bool sees_all,
                  int workers_per_node = 0) {
  const Bytes source = access_case::pattern(access_case::store_bytes(access));
  std::vector<Bytes> locals = access_case::make_locals(access, source);
  const std::vector<Bytes> before = locals;
  const auto arrays = access_case::arrays_over(access.layout, locals, access.element_bytes);
  MemoryStore store(access_case::store_bytes(access));
  std::fill(store.bytes().begin(), store.bytes().end(), kUntouched);
  run_on_nodes(workers, workers_per_node, [&](Transport& transport) {
    access_as(transport, access, options, store, worker_arrays(arrays, transport.rank(), sees_all), sees_all,
              /*write=*/true);
  });
  ASSERT_TRUE(store.bytes() == access_case::store_after_write(access, source, kUntouched));
  ASSERT_TRUE(locals == before);
}

std::string describe(const Case& access, const AccessOptions& options, int workers, bool sees_all) {
  return access_case::describe(access) + ", " + plait::plan::to_string(options.strategy) + ", memory " +
         std::to_string(options.memory_bytes) + ", readers " + std::to_string(options.readers) + ", " +
         std::to_string(workers) + (sees_all ? " workers that see all" : " workers");
}

/// Large elements lead to several readers and to windows of few elements, because shares are multiples of 4096 bytes.
const std::vector<std::int64_t> kElementSizes{1, 2, 3, 8, 12, 1000, 1024, 4096, 4096};

void try_random_accesses(bool sees_all, unsigned seed, int cases, int workers_per_node = 0) {
  Random random(seed);
  for (int i = 0; i < cases; ++i) {
    const int workers = static_cast<int>(pick(random, 1, workers_per_node <= 0 ? 4 : 5));
    const std::int64_t ranks = sees_all ? pick(random, 1, 6) : workers;
    const Case access = access_case::random_case(random, ranks, kElementSizes);
    AccessOptions options;
    options.strategy = pick(random, std::vector{Strategy::kAutomatic, Strategy::kDirect, Strategy::kTwoPhase,
                                                Strategy::kTwoPhase, Strategy::kTwoPhase});
    options.readers = pick(random, 0, workers);
    options.each_node = workers_per_node > 0 && pick(random, 0, 2) == 0;
    if (options.each_node) options.readers = 0;
    // The memory is for two window slots, the buffer of sieved reads and those of messages: it leads to windows of one
    // element, of a few, and of the usual size.
    options.memory_bytes = pick(random, std::vector<std::int64_t>{0, 5, 9, 24, 64}) * access.element_bytes;
    SCOPED_TRACE(describe(access, options, workers, sees_all));
    ASSERT_NO_FATAL_FAILURE(expect_read(access, options, workers, sees_all, workers_per_node));
    ASSERT_NO_FATAL_FAILURE(expect_write(access, options, workers, sees_all, workers_per_node));
  }
}

constexpr int kCases = oracle::kSanitized ? 150 : 2000;

TEST(Access, WorkersOfOneRankEachReadAndWriteByTheirLayout) { try_random_accesses(/*sees_all=*/false, 1, kCases); }

TEST(Access, WorkersThatSeeAllArraysReadAndWriteByTheirLayout) { try_random_accesses(/*sees_all=*/true, 2, kCases); }

TEST(Access, ProcessesReadAndWriteByTheirLayout) {
  try_random_accesses(/*sees_all=*/false, 5, kCases / 10, kProcesses);
}

TEST(Access, WorkersOnSeveralNodesReadAndWriteByTheirLayout) {
  try_random_accesses(/*sees_all=*/false, 3, kCases / 3, 1);
  try_random_accesses(/*sees_all=*/false, 4, kCases / 3, 2);
}

TEST(Access, ReadsAndWritesEveryPairOfDistributionsOfAMatrix) {
  const auto distributions = [](std::int64_t size, std::int64_t extent) {
    return std::vector<Distribution>{
        Distribution::blocked(),     Distribution::cyclic(),
        Distribution::cyclic(2),     Distribution::balanced(),
        Distribution::blocked(size), Distribution::gen_block(extent == 2 ? Extents{1, size - 1} : Extents{size})};
  };
  int checked = 0;
  for (const Order file_order : {Order::kC, Order::kFortran})
    for (const Order local_order : {Order::kC, Order::kFortran})
      for (const Distribution& rows : distributions(5, 2))
        for (const Distribution& columns : distributions(7, 2)) {
          if (oracle::kSanitized && ++checked % 5 != 0) continue;
          const Case access{{5, 7}, file_order, {}, Layout({5, 7}, {rows, columns}, {2, 2}, Order::kC, local_order),
                            1024,   4096};
          for (const Strategy strategy : {Strategy::kDirect, Strategy::kTwoPhase}) {
            const AccessOptions options{strategy, 3 * 1024 * 3, 3};
            SCOPED_TRACE(describe(access, options, 4, /*sees_all=*/false));
            ASSERT_NO_FATAL_FAILURE(expect_read(access, options, 4, /*sees_all=*/false));
            ASSERT_NO_FATAL_FAILURE(expect_write(access, options, 4, /*sees_all=*/false));
          }
        }
}

TEST(Access, LocalArraysMayHaveAnyStrides) {
  // Rank 0's array has gaps and negative strides in both dimensions; rank 1's array is transposed.
  const Case access{{4, 6}, Order::kC, {}, Layout({4, 6}, {Distribution::blocked(), Distribution::collapsed()}, {2}),
                    2,      0};
  MemoryStore store(access_case::store_bytes(access));
  store.bytes() = access_case::pattern(store.size());
  const Bytes source = store.bytes();
  Bytes first(4 * 2 * 6 * 3, kUntouched);
  Bytes second(2 * 2 * 6, kUntouched);
  const std::int64_t row_stride = -6 * 6;
  const std::int64_t column_stride = -6;
  constexpr std::int64_t kFirstElement = 36 + 30;  // element (0, 0) has the highest address of rank 0's array
  const std::vector<LocalArray> arrays{{0, first.data() + kFirstElement, {row_stride, column_stride}},
                                       {1, second.data(), {2, 4}}};
  for (const Strategy strategy : {Strategy::kDirect, Strategy::kTwoPhase}) {
    std::fill(first.begin(), first.end(), kUntouched);
    run_team(2, [&](Transport& transport) {
      access_as(transport, access, {strategy, 0, 0}, store, worker_arrays(arrays, transport.rank(), false),
                /*sees_all=*/false, /*write=*/false);
    });
    std::size_t touched = 0;
    for (std::int64_t r = 0; r < 2; ++r)
      for (std::int64_t c = 0; c < 6; ++c)
        for (std::int64_t b = 0; b < 2; ++b) {
          ASSERT_EQ(first[to_size_t(kFirstElement + r * row_stride + c * column_stride + b)],
                    source[to_size_t((r * 6 + c) * 2 + b)]);
          ASSERT_EQ(second[to_size_t(r * 2 + c * 4 + b)], source[to_size_t(((r + 2) * 6 + c) * 2 + b)]);
          ++touched;
        }
    EXPECT_EQ(static_cast<std::size_t>(std::count(first.begin(), first.end(), kUntouched)), first.size() - touched);
    std::fill(store.bytes().begin(), store.bytes().end(), kUntouched);
    run_team(2, [&](Transport& transport) {
      access_as(transport, access, {strategy, 0, 0}, store, worker_arrays(arrays, transport.rank(), false),
                /*sees_all=*/false, /*write=*/true);
    });
    ASSERT_TRUE(store.bytes() == source);
  }
}

/// Performs an access to a store that fails. Returns the error of this worker; "" without an error.
std::string run_failing_access(Transport& transport, const Case& access, const AccessOptions& options,
                               MemoryStore& store, const std::vector<LocalArray>& arrays, bool sees_all, bool write) {
  try {
    access_as(transport, access, options, store, worker_arrays(arrays, transport.rank(), sees_all), sees_all, write);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), plait::ErrorKind::kSystem);
    EXPECT_EQ(error.system_code(), EIO);
    return error.what();
  }
  return "";
}

/// Returns true if each element has its value from one of two stores: after a failed write it is old or new.
bool matches_elementwise(const Case& access, const Bytes& store, const Bytes& a, const Bytes& b) {
  for (std::int64_t i = access.offset; i < static_cast<std::int64_t>(store.size()); i += access.element_bytes) {
    const auto same = [&](const Bytes& candidate) {
      return std::equal(store.begin() + i, store.begin() + i + access.element_bytes, candidate.begin() + i);
    };
    if (!same(a) && !same(b)) return false;
  }
  return true;
}

/// Makes each segment of an access fail in turn; all workers must get the same error, and later accesses must succeed.
void fail_each_segment(const Case& access, const AccessOptions& options, int workers, bool sees_all, bool write,
                       int workers_per_node = 0) {
  SCOPED_TRACE(describe(access, options, workers, sees_all) + (write ? ", write" : ", read"));
  MemoryStore store(access_case::store_bytes(access));
  store.bytes() = access_case::pattern(store.size());
  const Bytes source = store.bytes();
  const std::vector<Bytes> expected = access_case::make_locals(access, source);
  const Bytes written = access_case::store_after_write(access, source, kUntouched);
  std::vector<Bytes> locals = expected;
  const auto arrays = access_case::arrays_over(access.layout, locals, access.element_bytes);
  std::vector<std::string> texts(static_cast<std::size_t>(workers));
  std::int64_t total = 0;  // segments of one access
  std::int64_t rounds = 0;
  run_on_nodes(workers, workers_per_node, [&](Transport& transport) {
    const bool is_first = transport.rank() == 0;
    const auto synchronize = [&] { plait::collective::agree(transport, nullptr); };
    access_as(transport, access, options, store, worker_arrays(arrays, transport.rank(), sees_all), sees_all, write);
    if (is_first) total = store.segments();
    synchronize();
    for (std::int64_t segment = 0; segment <= total; ++segment) {  // no segment fails in the last round
      if (is_first) {
        if (write) std::fill(store.bytes().begin(), store.bytes().end(), kUntouched);
        store.fail_at(store.segments() + segment);
      }
      synchronize();
      texts[static_cast<std::size_t>(transport.rank())] =
          run_failing_access(transport, access, options, store, arrays, sees_all, write);
      synchronize();
      if (is_first) {
        store.fail_at(-1);
        for (const std::string& text : texts) EXPECT_EQ(text, texts[0]);
        if (segment < total) {
          EXPECT_NE(texts[0].find("made to fail"), std::string::npos) << "segment " << segment << ": " << texts[0];
          EXPECT_EQ(texts[0].find("(on rank ") != std::string::npos, workers > 1) << texts[0];
        } else {
          EXPECT_EQ(texts[0], "");
        }
        ++rounds;
        if (write) {
          EXPECT_TRUE(matches_elementwise(access, store.bytes(), written, Bytes(written.size(), kUntouched)))
              << "segment " << segment;
        } else {
          for (Bytes& local : locals) std::fill(local.begin(), local.end(), kUntouched);
        }
      }
      synchronize();
      access_as(transport, access, options, store, worker_arrays(arrays, transport.rank(), sees_all), sees_all, write);
      if (is_first) {
        EXPECT_TRUE(write ? store.bytes() == written : locals == expected);
      }
      synchronize();
    }
  });
  EXPECT_EQ(rounds, total + 1);
  EXPECT_GT(total, 0);
}

TEST(Access, EveryWorkerGetsTheErrorOfAnySegment) {
  for (const bool write : {false, true})
    for (const Strategy strategy : {Strategy::kDirect, Strategy::kTwoPhase})
      for (int workers = 1; workers <= 4; ++workers) {
        const Layout layout({6, 5}, {Distribution::cyclic(), Distribution::blocked()}, {workers, 1});
        const Case access{{6, 5}, Order::kC, {}, layout, 4096, 0};
        const AccessOptions options{strategy, 2 * 3 * 4096, 0};
        ASSERT_NO_FATAL_FAILURE(fail_each_segment(access, options, workers, /*sees_all=*/false, write));
        ASSERT_NO_FATAL_FAILURE(fail_each_segment(access, options, workers, /*sees_all=*/true, write));
        if (workers > 2) {
          ASSERT_NO_FATAL_FAILURE(fail_each_segment(access, options, workers, /*sees_all=*/false, write, 2));
        }
      }
}

TEST(Access, EveryWorkerGetsTheErrorOfAnySegmentOfARegion) {
  // The region has gaps in the file: each row in a window is one segment of a write, and reads include the gaps.
  const Layout layout({4, 3}, {Distribution::collapsed(), Distribution::cyclic()}, {3});
  for (const std::int64_t element_bytes : {8, 4096})
    for (const bool write : {false, true}) {
      const Case access{{9, 6}, Order::kC, {{1, 4, 2, false}, {2, 3, 1, false}}, layout, element_bytes, 16};
      fail_each_segment(access, {Strategy::kTwoPhase, 3 * 4 * element_bytes, 2}, 3, false, write);
    }
}

TEST(Access, AStoreThatEndsEarlyIsAnErrorOnAllWorkers) {
  const Case access{{64, 16}, Order::kC, {}, Layout({64, 16}, {Distribution::cyclic(), {}}, {3}), 8, 0};
  MemoryStore store(access_case::store_bytes(access) - 1);
  std::vector<Bytes> locals = access_case::make_locals(access, access_case::pattern(access_case::store_bytes(access)));
  const auto arrays = access_case::arrays_over(access.layout, locals, access.element_bytes);
  for (const Strategy strategy : {Strategy::kDirect, Strategy::kTwoPhase}) {
    std::vector<std::string> texts(3);
    run_team(3, [&](Transport& transport) {
      try {
        access_as(transport, access, {strategy, 0, 2}, store, worker_arrays(arrays, transport.rank(), false),
                  /*sees_all=*/false, /*write=*/false);
      } catch (const Error& error) {
        texts[static_cast<std::size_t>(transport.rank())] = error.what();
      }
    });
    EXPECT_NE(texts[0].find("the store has 8191 bytes"), std::string::npos) << texts[0];
    EXPECT_EQ(texts[1], texts[0]);
    EXPECT_EQ(texts[2], texts[0]);
  }
}

/// Reads and writes while worker `slow` waits 3 ms before each access to a slot of worker `peer_of_slow`. A slot is the
/// record of a window's progress.
void try_with_slow_worker(int slow, int peer_of_slow, std::int64_t elements, std::int64_t readers) {
  constexpr int kWorkers = 3;
  const Layout layout({elements}, {Distribution::cyclic()}, {kWorkers});  // every window has a part of every worker
  const Case access{{elements}, Order::kC, {}, layout, 4096, 0};
  const AccessOptions options{Strategy::kTwoPhase, std::int64_t{2} * 3 * 4096, readers};
  SCOPED_TRACE(describe(access, options, kWorkers, /*sees_all=*/false) + ", worker " + std::to_string(slow) +
               " is slow at " + std::to_string(peer_of_slow));
  const Bytes source = access_case::pattern(access_case::store_bytes(access));
  const std::vector<Bytes> expected = access_case::make_locals(access, source);
  for (const bool write : {false, true}) {
    std::vector<Bytes> locals = expected;
    if (!write)
      for (Bytes& local : locals) std::fill(local.begin(), local.end(), kUntouched);
    const auto arrays = access_case::arrays_over(access.layout, locals, access.element_bytes);
    MemoryStore store(access_case::store_bytes(access));
    if (!write) store.bytes() = source;
    run_team(kWorkers, [&](Transport& transport) {
      wrapped::DelayedTransport delayed(transport, [&](int peer) {
        if (transport.rank() == slow && peer == peer_of_slow) std::this_thread::sleep_for(std::chrono::milliseconds(3));
      });
      access_as(delayed, access, options, store, worker_arrays(arrays, transport.rank(), false), false, write);
    });
    if (write) {
      ASSERT_TRUE(store.bytes() == source) << "write";
    } else {
      ASSERT_TRUE(locals == expected) << "read";
    }
  }
}

TEST(Access, WorkersWaitForASlowWorker) {
  // Each share has several windows, the last of which is shorter. The other workers continue without the slow one until
  // they need a window that it has not finished.
  for (int slow = 0; slow < 3; ++slow)
    for (int peer_of_slow = 0; peer_of_slow < 3; ++peer_of_slow)
      for (const std::int64_t readers : {1, 2, 3})
        for (const std::int64_t elements : {12, 19})
          ASSERT_NO_FATAL_FAILURE(try_with_slow_worker(slow, peer_of_slow, elements, readers));
}

}  // namespace
