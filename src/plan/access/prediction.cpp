// What an access is predicted to take.

#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "layout/owner_map.hpp"
#include "plan/access/access.hpp"
#include "plan/access/run_counter.hpp"

namespace plait::plan {

namespace {

std::int64_t coordinate_of_longest(const layout::OwnerMap& owner_map) {
  const auto* blocks = dynamic_cast<const layout::BlockOwnerMap*>(&owner_map);
  if (blocks != nullptr && blocks->kind() != Distribution::Kind::kGenBlock && blocks->offset() == 0)
    return blocks->coordinate_of(0);
  const std::int64_t longest = owner_map.longest();
  std::int64_t coordinate = 0;
  while (coordinate + 1 < owner_map.extent() && owner_map.set(coordinate).size() < longest) ++coordinate;
  return coordinate;
}

}  // namespace

std::int64_t AccessPlan::largest_rank() const {
  Extents coordinates(layout_.shape().size(), 0);
  for (int d = 0; d < layout_.dimensions(); ++d)
    coordinates[static_cast<std::size_t>(d)] = coordinate_of_longest(layout::owner_map_of(layout_, d));
  return layout_.rank_at(coordinates);
}

double AccessPlan::runs_per_element() const {
  const std::int64_t rank = largest_rank();
  return static_cast<double>(RunCounter(*this, rank).in_window()) /
         static_cast<double>(std::max<std::int64_t>(layout_.local_elements(rank), 1));
}

std::int64_t AccessPlan::requests(Strategy strategy) const {
  if (section_.elements == 0) return 0;
  if (strategy == Strategy::kDirect) return RunCounter(*this, largest_rank()).direct().requests;
  const std::int64_t run = std::max<std::int64_t>(section_.contiguous_elements(), 1);
  return std::max(windows_, base::ceil_divide(share_, run));
}

namespace {

/// A local array of no more bytes is in the caches where it is read again and again: then nothing is gained by windows
/// that are.  One of more bytes is read from memory when it is written to a file.
constexpr double kCachedBytes = 8 << 20;
/// Requests of fewer bytes cost file systems on other nodes more by their number than by what they bring.
constexpr std::int64_t kShortRun = 16 << 10;
/// What a writer that finds the lock of its file held waits in vain, as it has to be woken.
constexpr double kWakingSeconds = 20e-6;
/// How much sooner more writers have to be done than fewer: theirs depends more on how near to each other the cores are.
constexpr double kMoreWriters = 0.9;

}  // namespace

/// Whether those who write at the same time wait for each other: systems lock a file for each write.
bool AccessPlan::writes_queue() const {
  return write_ && workers_ > 1 && !threads_ && !nodes_apart_ && !section_.chunks &&
         options_.storage_unit == kStorageUnit;
}

/// Writers that others write together with can do no more than one of them, but it writes nothing while it copies: so one
/// is enough for a single window only.
std::int64_t AccessPlan::best_writers() const {
  std::int64_t best = readers_;
  double least = predicted_seconds(Strategy::kTwoPhase);
  for (const std::int64_t writers : {workers_ / 2, std::int64_t{1}}) {
    if (writers < 1 || writers >= best) continue;
    if (writers == 1 && section_.elements * element_bytes_ > kWindowBytes) continue;
    const double seconds = predicted_seconds_by(writers);
    if (least < kMoreWriters * seconds) continue;
    best = writers;
    least = seconds;
  }
  return best;
}

double AccessPlan::predicted_seconds(Strategy strategy) const {
  if (section_.elements == 0) return 0;
  // What short requests take where other nodes have the file, nobody knows: no less than messages would.
  if (strategy == Strategy::kDirect) return direct_seconds() + (reads_short_runs() ? exchange_seconds_ : 0);
  if (each_node_) return predicted_seconds_in_each_node();
  return two_phase_seconds(readers_, std::min(share_, section_.elements), windows_) + exchange_seconds_;
}

bool AccessPlan::reads_short_runs() const {
  const std::int64_t bytes = layout_.local_elements(largest_rank()) * element_bytes_;
  return !write_ && bytes / std::max<std::int64_t>(requests(Strategy::kDirect), 1) < kShortRun;
}

double AccessPlan::predicted_seconds_by(std::int64_t readers) const {
  if (section_.elements == 0) return 0;
  const std::int64_t share = base::ceil_divide(section_.elements, readers);
  return two_phase_seconds(readers, share, base::ceil_divide(share, window_)) + exchange_seconds_;
}

/// What the messages between nodes take at least: those that leave a node, by its link.  How much of a window is of
/// other nodes is taken from the first windows of a few readers, as a look at all would cost more with more ranks.
double AccessPlan::exchange_seconds() const {
  if (!nodes_apart_ || !nodes_ || section_.elements == 0) return 0;
  std::int64_t all = 0;
  std::int64_t elsewhere = 0;
  std::int64_t last = -1;
  for (const std::int64_t reader : {std::int64_t{0}, readers_ / 2, readers_ - 1}) {
    if (reader == last) continue;
    last = reader;
    const std::size_t node = spread_.node_of(rank_of_reader(reader));
    for (const RankPart& part : parts(window(reader, 0))) {
      all += part.elements;
      if (spread_.node_of(part.rank) != node) elsewhere += part.elements;
    }
  }
  if (all == 0) return 0;
  const double bytes = static_cast<double>(section_.elements * element_bytes_) / static_cast<double>(nodes_->size());
  return bytes * static_cast<double>(elsewhere) / static_cast<double>(all) / model_.network_bytes_per_second;
}

/// Where the file is in the page cache of each node, reading it again costs little; where it is not, what a node reads
/// for others comes by its link as what they would send does.  Where the file was not found cold, nobody knows before it
/// has been tried: the prediction lies in the middle, as many times as long as the one as the other is longer.
double AccessPlan::predicted_seconds_in_each_node() const {
  if (section_.elements == 0) return 0;
  const std::int64_t readers = readers_of_each_node();
  const std::int64_t share = base::ceil_divide(section_.elements, readers);
  const double cached = two_phase_seconds(readers, share, base::ceil_divide(share, window_));
  const double others = 1 - 1 / static_cast<double>(nodes_->size());
  const double bytes = static_cast<double>(section_.elements * element_bytes_) * others;
  const double cold = cached + bytes / model_.network_bytes_per_second;
  return reads_from_disk() ? cold : std::sqrt(cached * cold);
}

double AccessPlan::direct_seconds() const {
  const std::int64_t rank = largest_rank();
  const DirectRuns runs = RunCounter(*this, rank).direct();
  const auto hosted = static_cast<double>(base::ceil_divide(layout_.size(), workers_));
  const double array = static_cast<double>(layout_.local_elements(rank) * element_bytes_);
  const double request = write_ ? model_.write_request_seconds : model_.request_seconds;
  // Writers on several nodes take the locks of the file from each other, request by request.
  const double taking_turns = write_ && nodes_apart_ ? static_cast<double>(workers_) : 1;
  const double touching = hosted * static_cast<double>(runs.requests) * request * taking_turns;
  const double rate = array > kCachedBytes ? model_.store_bytes_per_second
                                           : std::max(model_.store_bytes_per_second, model_.window_bytes_per_second);
  const double copying = runs.requests == runs.runs ? 0
                                                    : static_cast<double>(runs.runs) * model_.run_seconds +
                                                          array / model_.copy_bytes_per_second;
  const double own = hosted * (array / rate + copying);
  const double all = static_cast<double>(section_.elements * element_bytes_) / model_.window_bytes_per_second;
  return touching + (writes_queue() ? std::max(own, all) : own);
}

double AccessPlan::two_phase_seconds(std::int64_t readers, std::int64_t share, std::int64_t windows) const {
  const std::int64_t rank = largest_rank();
  // Threads copy for all ranks whatever is in the windows that they take.
  const double hosted = threads_ ? static_cast<double>(layout_.size()) / static_cast<double>(workers_)
                                 : static_cast<double>(base::ceil_divide(layout_.size(), workers_));
  const double array = static_cast<double>(layout_.local_elements(rank) * element_bytes_);
  const double rate = write_ && array > kCachedBytes
                          ? std::min(model_.copy_bytes_per_second, model_.store_bytes_per_second)
                          : model_.copy_bytes_per_second;
  const double copying =
      hosted * (static_cast<double>(RunCounter(*this, rank).in_window()) * model_.run_seconds + array / rate);
  const std::int64_t run = std::max<std::int64_t>(section_.contiguous_elements(), 1);
  const auto touched = static_cast<double>(std::max(windows, base::ceil_divide(share, run)));
  const double waiting = workers_ > 1 ? static_cast<double>(windows + 1) * model_.step_seconds : 0;
  const bool queue = writes_queue();
  // Readers have more of what all share, memory and cores, where others do not read: half of it, as measured.
  const std::int64_t least = write_ ? share : std::min(share, base::ceil_divide(section_.elements, workers_));
  const double moved = queue ? static_cast<double>(section_.elements) : static_cast<double>(share + least) / 2;
  const double moving = moved * static_cast<double>(element_bytes_) / model_.window_bytes_per_second;
  if (!queue)
    return touched * (write_ ? model_.write_request_seconds : model_.request_seconds) + moving + copying + waiting;
  if (readers == 1) return touched * model_.request_seconds + moving + copying + waiting;
  // While one of them writes the others fill the next windows.
  const double first = copying / static_cast<double>(std::max<std::int64_t>(windows, 1));
  return touched * (model_.write_request_seconds + kWakingSeconds) + moving + first + waiting;
}

}  // namespace plait::plan
