// One simulated rank: the schedule of access::WindowMove on the virtual clock.
//
// A rank that accesses the file is a reader, also when writing. Its share of the file passes through memory in windows,
// which all ranks of its node copy from (reading) or to (writing).
//
// Idea: the simulation has the counters of the real schedule but replaces the work by time. `claimed`, `filled` and
// `taken` of each Windows only grow, and uses(window_number) is the value of a counter when window `window_number` has
// passed it. A rank repeats: copy elements of a window that is ready, else claim a window and fill or flush it, else
// sleep until a counter changes. src/access/window_move.cpp explains the counters with an example.
//
// Example: reading on one node with 2 ranks and kSlots = 2. Window 2 uses the slot of window 0. It may be filled when
// `taken` of this slot is all_copies(2) - all_copies(0) = 4 - 2 = 2, which means that both ranks have copied window
// 0.

#include "simulation/access/rank.hpp"

#include <algorithm>

#include "plan/conversion/partners.hpp"
#include "simulation/access/file_requests.hpp"

namespace plait::simulation {

namespace {

Time to_time(double seconds) { return transfer_time(1, 1 / std::max(seconds, 1e-15)); }

}  // namespace

Rank::Rank(Context& context, Node& node, std::int64_t number)
    : context_(context),
      node_(node),
      number_(number),
      index_on_node_(static_cast<std::size_t>(number % context.ranks_per_node)),
      served_peers_(context.plan.each_node()                                                  ? node.windows.size()
                    : context.plan.reader_ranks().reader_at(number) == context.plan.readers() ? 0
                    : context.plan.shares().cuts_chunks()                                     ? 1
                                                                                              : node.windows.size()),
      holdings_(context.plan.owners().holdings(number)),
      copied_(node.windows.size(), 0) {}

void Rank::record_time(Phase phase, Time from) {
  const Time now = context_.resumer.now();
  outcome().times[static_cast<std::size_t>(phase)] += now - from;
  context_.outcome.series[static_cast<std::size_t>(phase)].add_span(from, now);
}

/// Works for `time` on a core of the node. The time until a core is free counts as kWaiting.
Task Rank::spend(Phase phase, Time time) {
  const Time called = context_.resumer.now();
  const Time begins = node_.cores.take(called, time);
  if (begins > called) {
    co_await context_.resumer.until(begins);
    record_time(Phase::kWaiting, called);
  }
  co_await context_.resumer.until(begins + time);
  record_time(phase, begins);
}

Time Rank::copy_time(std::int64_t elements) const {
  return to_time(static_cast<double>(elements) * context_.copy_per_element);
}

Task Rank::await_all_ranks() {
  const Time from = context_.resumer.now();
  co_await context_.barrier.arrive();
  record_time(Phase::kWaiting, from);
}

Task Rank::run() {
  const bool is_direct = context_.plan.strategy() == plan::Strategy::kDirect;
  co_await spend(Phase::kPlan, context_.settings.nodes.plan);
  // A direct read depends on no other rank, so it starts without an agreement.
  if (!is_direct || context_.write) co_await await_all_ranks();
  if (context_.plan.section().elements > 0) {
    if (is_direct) {
      co_await access_directly();
    } else {
      co_await access_in_two_phases();
    }
  }
  co_await await_all_ranks();
}

Task Rank::access_directly() {
  FileRequests requests;
  if (!holdings_.empty()) requests = make_direct_requests(context_.plan, number_, context_.data_offset);
  // When reading, the target array is not in the processor's cache, so bytes move at the rate of the store. When
  // writing, the source array is in the cache.
  const plan::CostModel& costs = context_.settings.costs;
  const double rate = context_.write ? costs.window_bytes_per_second : costs.store_bytes_per_second;
  for (const auto& [offset, bytes] : requests.all()) {
    if (context_.write) {
      co_await write_file(offset, bytes, rate);
    } else {
      co_await read_file(offset, bytes, rate);
    }
  }
}

Task Rank::access_in_two_phases() {
  if (exchanges_messages()) {
    for (std::int64_t window_number = 0; window_number < context_.window_count; ++window_number) {
      co_await work_until(window_number);
      co_await exchange(window_number);
      if (window_number < node_.windows[index_on_node_].window_count) count_copy(index_on_node_, window_number);
    }
  }
  co_await work_until(kAll);
}

std::int64_t& Rank::copies(Windows& windows, std::int64_t window_number) const {
  return (context_.write ? windows.filled : windows.taken)[static_cast<std::size_t>(window_number % plan::kSlots)];
}

std::int64_t& Rank::transfers(Windows& windows, std::int64_t window_number) const {
  return (context_.write ? windows.taken : windows.filled)[static_cast<std::size_t>(window_number % plan::kSlots)];
}

bool Rank::copy_ready(std::size_t peer) const {
  Windows& windows = node_.windows[peer];
  const std::int64_t window_number = copied_[peer];
  return window_number < windows.window_count &&
         transfers(windows, window_number) >= (context_.write ? uses(window_number) - 1 : uses(window_number));
}

bool Rank::transfer_ready(std::size_t peer) const {
  Windows& windows = node_.windows[peer];
  const std::int64_t window_number = windows.claimed;
  return window_number < windows.window_count &&
         copies(windows, window_number) >=
             (context_.write ? all_copies(window_number) : all_copies(window_number) - all_copies(0));
}

bool Rank::has_work() const {
  for (std::size_t i = 0; i < node_.windows.size(); ++i)
    if (copy_ready(nth_peer(i)) || (i < served_peers_ && transfer_ready(nth_peer(i)))) return true;
  return false;
}

/// True if the condition that work_until(window_number) waits for holds.
bool Rank::is_done_until(std::int64_t window_number) const {
  for (std::size_t i = 0; i < node_.windows.size(); ++i) {
    const Windows& windows = node_.windows[i];
    if (copied_[i] != windows.window_count && (window_number == kAll || copied_[i] <= window_number)) return false;
  }
  if (window_number != kAll) return true;
  for (std::size_t i = 0; i < served_peers_; ++i)
    if (node_.windows[nth_peer(i)].claimed < node_.windows[nth_peer(i)].window_count) return false;
  return true;
}

bool Rank::can_continue() const { return has_work() || is_done_until(awaited_window_); }

void Rank::wake() {
  // A sleeping rank continues after the time that a wake-up takes.
  context_.resumer.resume_at(context_.resumer.now() + to_time(context_.settings.costs.wait_seconds),
                             std::exchange(suspended_, nullptr));
}

void Rank::notify_node() {
  std::erase_if(node_.waiting, [](Rank* rank) {
    const bool continues = rank->can_continue();
    if (continues) rank->wake();
    return continues;
  });
}

void Rank::count_copy(std::size_t peer, std::int64_t window_number) {
  if (++copies(node_.windows[peer], window_number) == all_copies(window_number)) notify_node();
}

Task Rank::work_until(std::int64_t window_number) {
  while (!is_done_until(window_number)) {
    bool worked = false;
    for (std::size_t i = 0; i < node_.windows.size() && !worked; ++i) {
      const std::size_t peer_index = nth_peer(i);
      if (!copy_ready(peer_index)) continue;
      const std::int64_t window_to_copy = copied_[peer_index]++;
      const plan::PositionRange range = context_.plan.window(node_.windows[peer_index].reader, window_to_copy);
      const std::int64_t elements = context_.plan.owners().elements(holdings_, range);
      if (elements > 0) co_await spend(Phase::kCopy, copy_time(elements));
      if (peer_index != index_on_node_ || !exchanges_messages()) count_copy(peer_index, window_to_copy);
      worked = true;
    }
    for (std::size_t i = 0; i < served_peers_ && !worked; ++i) {
      Windows& windows = node_.windows[nth_peer(i)];
      if (!transfer_ready(nth_peer(i))) continue;
      const std::int64_t window_to_transfer = windows.claimed++;
      co_await transfer_window(context_.plan.window(windows.reader, window_to_transfer));
      ++transfers(windows, window_to_transfer);
      notify_node();
      worked = true;
    }
    if (worked) continue;
    const Time from = context_.resumer.now();
    awaited_window_ = window_number;
    node_.waiting.push_back(this);
    co_await Suspend{suspended_};
    record_time(Phase::kWaiting, from);
  }
}

/// True if a rank of the node owns elements of a range that the node reads for itself.
bool Rank::owns_elements_in(Range range) const {
  const plan::AccessPlan& plan = context_.plan;
  const std::int64_t first = node_.number * context_.ranks_per_node;
  for (std::size_t i = 0; i < node_.windows.size(); ++i)
    for (const plan::RankElements& owned : plan.owners().holdings(first + static_cast<std::int64_t>(i)))
      if (plan.owners().next_owned(owned.sets, range.begin) < range.end) return true;
  return false;
}

Task Rank::transfer_window(Range range) {
  if (context_.plan.each_node() && !owns_elements_in(range)) co_return;
  const FileRequests requests = make_window_requests(context_.plan, range, context_.write, context_.data_offset);
  const double rate = context_.settings.costs.window_bytes_per_second;
  for (const auto& [offset, bytes] : requests.all()) {
    if (context_.write) {
      co_await write_file(offset, bytes, rate);
    } else {
      co_await read_file(offset, bytes, rate);
    }
  }
  // A sieving read covers the gaps between the wanted runs as well. This is the time to extract the runs.
  if (!context_.write && context_.plan.sieve_bytes() > 0)
    co_await spend(Phase::kFile, transfer_time(range.size() * context_.plan.element_bytes(), rate));
}

Task Rank::read_file(std::int64_t offset, std::int64_t bytes, double rate) {
  ++outcome().requests;
  outcome().bytes += bytes;
  const Time call = to_time(context_.settings.costs.request_seconds);
  if (context_.settings.files.cached) {
    co_await spend(Phase::kFile, call + transfer_time(bytes, rate));
    co_return;
  }
  co_await spend(Phase::kFile, call);
  const Time from = context_.resumer.now();
  co_await context_.files.read(node_.number, offset, bytes);
  record_time(Phase::kFile, from);
  co_await spend(Phase::kFile, transfer_time(bytes, rate));
}

Task Rank::write_file(std::int64_t offset, std::int64_t bytes, double rate) {
  ++outcome().requests;
  outcome().bytes += bytes;
  const Time from = context_.resumer.now();
  if (!context_.settings.files.write_through) co_await context_.files.reserve_memory(node_.number, bytes);
  co_await context_.files.await_turn(node_.number);
  record_time(Phase::kFile, from);
  co_await spend(Phase::kFile, to_time(context_.settings.costs.write_request_seconds) + transfer_time(bytes, rate));
  context_.files.end_turn(node_.number);
  if (!context_.settings.files.write_through) {
    context_.files.add_written(node_.number, offset, bytes);
    co_return;
  }
  const Time leaves = context_.resumer.now();
  co_await context_.files.write_through(node_.number, offset, bytes);
  record_time(Phase::kFile, leaves);
}

}  // namespace plait::simulation
