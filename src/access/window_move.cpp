// The schedule that two-phase reads and writes share: which worker processes which window, and when.
//
// Problem: the ranks of a node share the windows in memory. A window must be filled from the store before its elements
// are copied out (reading), or hold all elements before it is flushed (writing). Each reader has kSlots windows at a
// time. With more ranks than cores, a fixed order of tasks would make every rank wait for the scheduler.
//
// Idea: no worker has a fixed task. A *transfer* fills or flushes a window; a *copy* moves one worker's elements of a
// window. Each slot has three counters that only grow: `claimed`, and one each for finished transfers and copies. A
// worker repeats: send or receive messages, else copy from or to a window that is ready, else claim and transfer one,
// else sleep until a counter that it waits for changes. uses(window_number) is the value of a counter of transfers when
// window `window_number` is complete, so counters are never reset.
//
// Example: reading with 2 workers, kSlots = 2. Worker 0 claims window 0 of its share (claimed 0 -> 1), fills it and
// raises `transfers` to 1. Both workers copy their elements: `copies` becomes 1, then 2 = final_copy_count(0). Window 2
// uses the same slot. It may be filled now, because `copies` has reached final_copy_count(0). When it is filled,
// `transfers` becomes 2, and after both workers have copied from it `copies` is 4 = final_copy_count(2).
//
// Memory order: a worker adds to a counter with release semantics after its copies, and reads counters with acquire
// semantics before it transfers or copies. All changes of a counter are read-modify-write operations, so a worker that
// sees `copies` = 2 sees the copies of both workers. The claim decides between workers by compare-and-swap alone.

#include "access/window_move.hpp"

namespace plait::access {

WindowMove::WindowMove(const Access& access)
    : access_(access),
      io_(access_.plan, access_.store, access_.data_offset),
      node_exchange_(access_),
      plan_(access_.plan),
      transport_(access_.transport),
      workers_per_window_(access_.sees_all_arrays ? 1 : transport_.node_size()),
      slot_bytes_(plan_.window_elements() * plan_.element_bytes()),
      served_peers_(count_served_peers()),
      progress_(static_cast<std::size_t>(transport_.node_size())) {
  for (const copy::LocalArray& array : access_.arrays) copiers_.emplace_back(plan_, array.rank);
  for (int i = 0; i < transport_.node_size(); ++i) {
    progress(i).reader = peer_reader(i);
    std::int64_t window_count = plan_.windows();
    while (window_count > 0 && peer_window(i, window_count - 1).empty()) --window_count;
    progress(i).window_count = window_count;
    if (plan_.each_node()) node_holdings_.push_back(plan_.owners().holdings(transport_.worker_on_node(i)));
  }
}

/// Returns the reader whose share the windows of a peer cover. If each node reads for itself, the first workers of each
/// node are its readers, the same number on each node.
std::int64_t WindowMove::peer_reader(int peer) const {
  return plan_.each_node() ? std::min<std::int64_t>(peer, plan_.readers())
                           : plan_.reader_ranks().reader_at(transport_.worker_on_node(peer));
}

int WindowMove::count_served_peers() const {
  if (plan_.each_node()) return transport_.node_size();
  if (peer_reader(own_node_rank()) == plan_.readers()) return 0;
  return plan_.shares().reader_transfers_alone() ? 1 : transport_.node_size();
}

bool WindowMove::is_needed(Range range) const {
  const auto owns_some = [&](const plan::RankElements& elements) {
    return plan_.owners().next_owned(elements.sets, range.begin) < range.end;
  };
  return !plan_.each_node() ||
         std::ranges::any_of(node_holdings_, [&](const std::vector<plan::RankElements>& holdings) {
           return std::ranges::any_of(holdings, owns_some);
         });
}

void WindowMove::run() {
  windows_ = &transport_.windows(plan::kSlots * slot_bytes_);
  if (access_.sees_all_arrays) {
    process_unclaimed_windows();
    return error_.rethrow();
  }
  work_until([&] {
    return all([](const Progress& peer) { return peer.copied == peer.window_count; }) && all_windows_claimed() &&
           node_exchange_.is_done();
  });
  error_.rethrow();
}

std::byte* WindowMove::window(int peer, std::int64_t window_number) const {
  return windows_->part(peer) + window_number % plan::kSlots * slot_bytes_;
}

transport::Slot& WindowMove::slot(int peer, std::int64_t window_number) const {
  return transport_.gates().slot(peer, static_cast<int>(window_number % plan::kSlots));
}

/// Processes windows that no other worker has claimed, until there are none: in the array itself if it holds a window's
/// elements as the window would, otherwise in this worker's own window memory.
void WindowMove::process_unclaimed_windows() {
  for (int i = 0; i < served_peers_; ++i) {
    Progress& peer_progress = progress(peer(i));
    for (; peer_progress.claimed < peer_progress.window_count; ++peer_progress.claimed) {
      if (has_failed()) return;
      const Range range = peer_window(peer(i), peer_progress.claimed);
      if (!claim(peer(i))) continue;
      if (std::byte* const in_array = find_in_arrays(plan_, copiers_, access_.arrays, range)) {
        transfer(range, in_array);
        continue;
      }
      if (transfers_first()) transfer(range, window(own_node_rank(), 0));
      copy_elements(range, window(own_node_rank(), 0));
      if (!transfers_first()) transfer(range, window(own_node_rank(), 0));
    }
  }
}

bool WindowMove::all_windows_claimed() {
  for (int i = 0; i < served_peers_; ++i)
    if (progress(peer(i)).claimed < progress(peer(i)).window_count) return false;
  return true;
}

void WindowMove::work_until(base::FunctionRef<bool()> is_done) {
  while (!is_done()) {
    // Messages come first, so that links are busy while this worker copies or waits for its disk.
    if (exchange_some() || copy_next() || transfer_next()) continue;
    const double copy_seconds = access_.times.copy;
    const auto can_continue = [&] { return has_work() || exchange_some() || is_done(); };
    {
      const collective::Stopwatch watch(access_.times.wait);
      if (node_exchange_.has_messages_in_flight())
        transport_.await(can_continue);
      else
        transport::wait_until(can_continue, find_counter_to_wait_for(), transport_.gates().liveness());
    }
    access_.times.wait -= access_.times.copy - copy_seconds;
  }
}

/// Sends and receives messages. Returns true if a message was started or completed, or if one of this worker's windows
/// is now complete.
bool WindowMove::exchange_some() {
  if (!is_across_nodes()) return false;
  const bool progressed = exchange([this](std::int64_t window_number) -> std::byte* {
    return can_copy(slot(own_node_rank(), window_number), window_number) ? window(own_node_rank(), window_number)
                                                                         : nullptr;
  });
  return count_own_copies() || progressed;
}

/// Counts the copies of this worker's own windows. A copy counts only when the window's messages are done as well:
/// until then no worker may transfer the window.
bool WindowMove::count_own_copies() {
  const std::int64_t before = counted_copies_;
  for (; counted_copies_ < std::min(progress(own_node_rank()).copied, node_exchange_.completed_windows());
       ++counted_copies_)
    count_copy(own_node_rank(), counted_copies_);
  return counted_copies_ > before;
}

bool WindowMove::has_work() {
  for (int i = 0; i < transport_.node_size(); ++i)
    if (is_copy_ready(peer(i)) || (is_transfer_ready(peer(i)) && i < served_peers_)) return true;
  return false;
}

bool WindowMove::is_copy_ready(int peer) {
  const Progress& peer_progress = progress(peer);
  return peer_progress.copied < peer_progress.window_count &&
         can_copy(slot(peer, peer_progress.copied), peer_progress.copied);
}

/// Returns true if the next unclaimed window of a peer may be transferred. Skips windows that others have claimed
/// meanwhile.
bool WindowMove::is_transfer_ready(int peer) {
  Progress& peer_progress = progress(peer);
  while (peer_progress.claimed < peer_progress.window_count &&
         transport::reached(slot(peer, peer_progress.claimed).claimed, slot_uses(peer_progress.claimed)))
    ++peer_progress.claimed;
  return peer_progress.claimed < peer_progress.window_count &&
         can_transfer(slot(peer, peer_progress.claimed), peer_progress.claimed);
}

/// Claims the next window of a peer. Returns false if another worker has claimed it.
bool WindowMove::claim(int peer) {
  const std::int64_t window_number = progress(peer).claimed;
  std::uint32_t expected = slot_uses(window_number) - 1;
  return slot(peer, window_number)
      .claimed.compare_exchange_strong(expected, slot_uses(window_number), std::memory_order_acq_rel);
}

/// Copies a window that is ready. Returns false if there is none.
bool WindowMove::copy_next() {
  for (int i = 0; i < transport_.node_size(); ++i) {
    const int owner = peer(i);
    if (!is_copy_ready(owner)) continue;
    const std::int64_t window_number = progress(owner).copied++;
    copy_elements(peer_window(owner, window_number), window(owner, window_number));
    if (owner == own_node_rank() && is_across_nodes())
      count_own_copies();
    else
      count_copy(owner, window_number);
    return true;
  }
  return false;
}

/// Claims and transfers a window that is ready. Returns false if there is none.
bool WindowMove::transfer_next() {
  for (int i = 0; i < served_peers_; ++i) {
    const int owner = peer(i);
    if (!is_transfer_ready(owner)) continue;
    const std::int64_t window_number = progress(owner).claimed;
    if (!claim(owner)) continue;
    transfer(peer_window(owner, window_number), window(owner, window_number));
    transport::Gates::raise(transfers(slot(owner, window_number)));
    return true;
  }
  return false;
}

/// Returns the counter on which to sleep. It usually changes when there is work again. If another counter changes
/// first, wait_until() notices it because it tests its condition from time to time.
std::atomic<std::uint32_t>& WindowMove::find_counter_to_wait_for() {
  for (int i = 0; i < transport_.node_size(); ++i) {
    const Progress& peer_progress = progress(peer(i));
    if (peer_progress.copied < peer_progress.window_count) return transfers(slot(peer(i), peer_progress.copied));
  }
  for (int i = 0; i < transport_.node_size(); ++i) {
    const Progress& peer_progress = progress(peer(i));
    if (peer_progress.claimed < peer_progress.window_count) return copies(slot(peer(i), peer_progress.claimed));
  }
  return transfers(slot(own_node_rank(), 0));
}

/// Counts a copy. The worker that makes the last copy wakes the workers that can now transfer the window: they sleep on
/// `copies`, or on `transfers` if they have to copy another window first.
void WindowMove::count_copy(int peer, std::int64_t window_number) {
  std::atomic<std::uint32_t>& counter = copies(slot(peer, window_number));
  if (counter.fetch_add(1, std::memory_order_acq_rel) + 1 != final_copy_count(window_number)) return;
  transport::wake_all(counter);
  transport::wake_all(transfers(slot(peer, window_number)));
}

}  // namespace plait::access
