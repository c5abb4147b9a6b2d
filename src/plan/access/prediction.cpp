// Predicted times of an access.
//
// The time of a strategy is the time of the rank with the largest part: its requests to the store, the bytes between
// store and memory, its copies between windows and arrays, and, in two phases, its waits for the other ranks, one for
// each window.
//
// Example: 4 ranks of one node read 1000x1000 doubles in rows, `(block, *) onto (4)`, with the built-in constants.
// Direct access is one request of 0.5 us and 2 MB into the array at 6 GB/s: 0.33 ms.  Two-phase access reads as many
// bytes into windows, and copies them to the arrays at 15 GB/s: about 0.13 ms more, plus 9 us of waits for 2 windows.

#include "plan/access/prediction.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "layout/owner_map.hpp"
#include "plan/access/run_counter.hpp"

namespace plait::plan {

namespace {

/// Windows accelerate reads of this many bytes or more from a disk: requests of whole windows cost fewer seeks than
/// those of runs, and the cost model has no term for seeks.
constexpr std::int64_t kMinFromDisk = std::int64_t{16} << 20;
/// A local array of at most this size stays in the caches between reads, so that windows in the caches save nothing.  A
/// larger one is read from memory when it is written to a file.
constexpr double kCachedBytes = 8 << 20;
/// For requests of fewer bytes, the cost on file systems of other nodes depends more on their number than on their
/// bytes.
constexpr std::int64_t kShortRun = 16 << 10;
/// A writer sleeps while another one holds the lock of the file.  This is the additional time until it runs again.
constexpr double kWakingSeconds = 20e-6;
/// The time to start a thread, which an access by several threads waits for, and to end it.
constexpr double kThreadSeconds = 50e-6;
/// The time to fetch a cache line of a large array from memory, while other lines are being fetched.
constexpr double kLineSeconds = 20e-9;
/// More writers are chosen only if they take at most this fraction of the time of fewer ones, because the time of
/// several writers depends more on the distance between cores.
constexpr double kMoreWriters = 0.9;

/// Returns a coordinate that owns as many indices as any other.
std::int64_t longest_coordinate(const layout::OwnerMap& owner_map) {
  const auto* blocks = dynamic_cast<const layout::BlockOwnerMap*>(&owner_map);
  if (blocks != nullptr && blocks->kind() != Distribution::Kind::kGenBlock && blocks->offset() == 0)
    return blocks->block_owner(0);
  const std::int64_t longest = owner_map.longest();
  std::int64_t coordinate = 0;
  while (coordinate + 1 < owner_map.extent() && owner_map.set(coordinate).size() < longest) ++coordinate;
  return coordinate;
}

std::int64_t elements(const AccessPlan& plan) { return plan.section().elements; }

std::int64_t section_bytes(const AccessPlan& plan) { return elements(plan) * plan.element_bytes(); }

/// Returns the bytes of a rank's local array.
std::int64_t array_bytes(const AccessPlan& plan, std::int64_t rank) {
  return plan.layout().local_elements(rank) * plan.element_bytes();
}

/// Returns the time of one request to the store, without its bytes.
double request_seconds(const AccessPlan& plan) {
  return plan.task().write ? plan.costs().write_request_seconds : plan.costs().request_seconds;
}

/// Returns the requests of a reader of a share: one for each window, or for each run that is contiguous in the file, or
/// for each group of runs that are read with the gaps between them.
std::int64_t count_share_requests(const Cover& cover, std::int64_t share, std::int64_t windows) {
  return std::max(windows, base::ceil_divide(share, cover.elements));
}

/// Returns the minimum time of the messages between nodes: the bytes that leave a node, divided by the rate of its
/// link.
double exchange_seconds(const AccessPlan& plan) {
  const WindowSample& sample = plan.sample();
  if (sample.elements == 0) return 0;
  const double bytes = static_cast<double>(section_bytes(plan)) / static_cast<double>(plan.task().nodes->size());
  return bytes * static_cast<double>(sample.on_other_nodes) / static_cast<double>(sample.elements) /
         plan.costs().network_bytes_per_second;
}

/// True if direct reads would be requests of fewer than kShortRun bytes on average.
bool reads_short_runs(const AccessPlan& plan) {
  const std::int64_t bytes = array_bytes(plan, largest_rank(plan.layout()));
  return !plan.task().write && bytes / std::max<std::int64_t>(requests(plan, Strategy::kDirect), 1) < kShortRun;
}

/// Returns the time to fetch the cache lines of a rank's array if neighbours in the array are not adjacent in the
/// windows, which have `window` elements.  Each row of neighbours costs one line, because the processor prefetches the
/// other lines of a long row.
///
/// Example: a window contains 2 neighbours of 2 bytes. The rows of an array of 128 MiB have 4 bytes then, so that each
/// line is fetched for 16 windows: 34 million fetches of 20 ns.
double line_seconds(const AccessPlan& plan, std::int64_t rank, std::int64_t window) {
  const auto array = static_cast<double>(array_bytes(plan, rank));
  const ArrayNeighbours& neighbours = plan.neighbours();
  if (array <= kCoreCacheBytes || neighbours.distance == 1) return 0;
  const std::int64_t row = neighbours.in_window(window) * plan.element_bytes();
  return array / static_cast<double>(row) * kLineSeconds;
}

/// Returns the time in which a worker copies between windows and the local arrays of its ranks.
double copy_seconds(const AccessPlan& plan) {
  const CostModel& costs = plan.costs();
  const AccessTask& task = plan.task();
  const std::int64_t rank = largest_rank(plan.layout());
  // `hosted` is the number of ranks for which a worker copies.  A thread copies for all ranks from every window that it
  // claims.
  const std::int64_t ranks = plan.layout().size();
  const double hosted = task.threads ? static_cast<double>(ranks) / static_cast<double>(task.workers)
                                     : static_cast<double>(base::ceil_divide(ranks, task.workers));
  const auto array = static_cast<double>(array_bytes(plan, rank));
  const double rate = task.write && array > kCachedBytes
                          ? std::min(costs.copy_bytes_per_second, costs.store_bytes_per_second)
                          : costs.copy_bytes_per_second;
  const double lines = plan.section().chunks ? 0 : line_seconds(plan, rank, plan.window_elements());
  return hosted * (runs_seconds(costs, RunCounter(plan, rank).in_window(), array) + array / rate + lines);
}

/// Returns the time of two-phase access by readers with at most `share` elements in `windows` windows each, without
/// messages between nodes.
double two_phase_seconds(const AccessPlan& plan, std::int64_t readers, std::int64_t share, std::int64_t windows) {
  const CostModel& costs = plan.costs();
  const AccessTask& task = plan.task();
  const double copying = copy_seconds(plan);
  const Cover cover = usual_cover(plan);
  const auto touched = static_cast<double>(count_share_requests(cover, share, windows));
  const double starting = task.threads ? static_cast<double>(task.workers - 1) * kThreadSeconds : 0;
  const double waiting = starting + (task.workers > 1 ? static_cast<double>(windows + 1) * costs.wait_seconds : 0);
  const bool queue = writes_queue(plan);
  // If other ranks do not read, a reader gets more of the shared memory bandwidth and cores: by measurement, half of
  // what these ranks would use.
  const std::int64_t even_share = task.write ? share : std::min(share, base::ceil_divide(elements(plan), task.workers));
  const double moved = queue ? static_cast<double>(elements(plan)) : static_cast<double>(share + even_share) / 2;
  const double moving =
      moved * static_cast<double>(plan.element_bytes()) * cover.reading_factor() / costs.window_bytes_per_second;
  if (!queue) return touched * request_seconds(plan) + moving + copying + waiting;
  if (readers == 1) return touched * costs.request_seconds + moving + copying + waiting;
  // While one of the writers writes, the others fill the next windows.
  const double first = copying / static_cast<double>(std::max<std::int64_t>(windows, 1));
  return touched * (costs.write_request_seconds + kWakingSeconds) + moving + first + waiting;
}

/// Returns the time of two-phase access by a different number of readers, without messages between nodes.
double two_phase_seconds_by(const AccessPlan& plan, std::int64_t readers) {
  const std::int64_t share = base::ceil_divide(elements(plan), readers);
  return two_phase_seconds(plan, readers, share, base::ceil_divide(share, plan.window_elements()));
}

}  // namespace

std::int64_t largest_rank(const Layout& layout) {
  Extents coordinates(layout.shape().size(), 0);
  for (int d = 0; d < layout.dimensions(); ++d)
    coordinates[static_cast<std::size_t>(d)] = longest_coordinate(layout::get_owner_map(layout, d));
  return layout.rank_at(coordinates);
}

double copy_seconds_per_element(const AccessPlan& plan, const CostModel& costs) {
  const std::int64_t rank = largest_rank(plan.layout());
  const std::int64_t elements = plan.layout().local_elements(rank);
  const double runs =
      runs_seconds(costs, RunCounter(plan, rank).in_window(), static_cast<double>(array_bytes(plan, rank)));
  return static_cast<double>(plan.element_bytes()) / costs.copy_bytes_per_second +
         runs / static_cast<double>(std::max<std::int64_t>(elements, 1));
}

std::int64_t requests(const AccessPlan& plan, Strategy strategy) {
  if (elements(plan) == 0) return 0;
  if (strategy == Strategy::kDirect) return RunCounter(plan, largest_rank(plan.layout())).direct().requests;
  return count_share_requests(usual_cover(plan), plan.shares().share_elements(), plan.windows());
}

bool reads_from_disk(const AccessPlan& plan) {
  return plan.options().cold && !plan.task().write && elements(plan) >= kMinFromDisk / plan.element_bytes();
}

bool writes_queue(const AccessPlan& plan) {
  const AccessTask& task = plan.task();
  return task.write && task.workers > 1 && !task.threads && !task.nodes_apart && !plan.section().chunks &&
         plan.options().storage_unit == kStorageUnit;
}

// Several writers of one file transfer no more bytes per second than one, but a single writer writes nothing while it
// copies.  Therefore one writer is chosen only for a single window.
std::int64_t best_writers(const AccessPlan& plan) {
  std::int64_t best = plan.readers();
  double best_seconds = predicted_seconds(plan, Strategy::kTwoPhase);
  for (const std::int64_t writers : {plan.task().workers / 2, std::int64_t{1}}) {
    if (writers < 1 || writers >= best) continue;
    if (writers == 1 && section_bytes(plan) > kWindowBytes) continue;
    const double seconds = predicted_seconds_by(plan, writers);
    if (best_seconds < kMoreWriters * seconds) continue;
    best = writers;
    best_seconds = seconds;
  }
  return best;
}

double predicted_seconds(const AccessPlan& plan, Strategy strategy) {
  if (elements(plan) == 0) return 0;
  // The time of short requests to a file system on other nodes is unknown.  It is at least the time of messages.
  if (strategy == Strategy::kDirect)
    return direct_seconds(plan) + (reads_short_runs(plan) ? exchange_seconds(plan) : 0);
  if (plan.each_node()) return predicted_seconds_in_each_node(plan);
  const std::int64_t share = std::min(plan.shares().share_elements(), elements(plan));
  return two_phase_seconds(plan, plan.readers(), share, plan.windows()) + exchange_seconds(plan);
}

double predicted_seconds_by(const AccessPlan& plan, std::int64_t readers) {
  if (elements(plan) == 0) return 0;
  return two_phase_seconds_by(plan, readers) + exchange_seconds(plan);
}

// If the file is in the page cache of each node, reading it again costs little.  If it is not, the bytes that a node
// reads for its ranks come over its link, as the messages of other nodes would.  Unless the file was found cold, only
// the first access shows which case applies; until then the prediction is the geometric mean of both.
double predicted_seconds_in_each_node(const AccessPlan& plan) {
  if (elements(plan) == 0) return 0;
  const double cached = two_phase_seconds_by(plan, plan.readers_in_each_node());
  const double others = 1 - 1 / static_cast<double>(plan.task().nodes->size());
  const double bytes = static_cast<double>(section_bytes(plan)) * others;
  const double cold = cached + bytes / plan.costs().network_bytes_per_second;
  return reads_from_disk(plan) ? cold : std::sqrt(cached * cold);
}

double direct_seconds(const AccessPlan& plan) {
  const CostModel& costs = plan.costs();
  const AccessTask& task = plan.task();
  const std::int64_t rank = largest_rank(plan.layout());
  const DirectRuns runs = RunCounter(plan, rank).direct();
  const auto hosted = static_cast<double>(base::ceil_divide(plan.layout().size(), task.workers));
  const auto array = static_cast<double>(array_bytes(plan, rank));
  // Writers on several nodes pass the locks of the file to each other, request by request.
  const double taking_turns = task.write && task.nodes_apart ? static_cast<double>(task.workers) : 1;
  const double touching = hosted * static_cast<double>(runs.requests) * request_seconds(plan) * taking_turns;
  const double rate = array > kCachedBytes ? costs.store_bytes_per_second
                                           : std::max(costs.store_bytes_per_second, costs.window_bytes_per_second);
  const std::int64_t buffer = plan.staging().direct_buffer_bytes() / plan.element_bytes();
  const double copying = runs.requests == runs.runs
                             ? 0
                             : runs_seconds(costs, runs.runs, array) + array / costs.copy_bytes_per_second +
                                   line_seconds(plan, rank, buffer);
  const double one_rank = hosted * (array / rate + copying);
  const double all_ranks = static_cast<double>(section_bytes(plan)) / costs.window_bytes_per_second;
  return touching + (writes_queue(plan) ? std::max(one_rank, all_ranks) : one_rank);
}

}  // namespace plait::plan
