// The schedule that two-phase reads and writes share: which worker processes which window, and when.
//
// Problem: the ranks of a node share the windows in memory. A window must be filled from the store before its elements
// are copied out (reading), or hold all elements before it is flushed (writing). Each reader has kSlots windows at a
// time. With more ranks than cores, a fixed order of tasks would make every rank wait for the scheduler.
//
// Idea: no worker has a fixed task. A *move* fills or flushes a window; a *visit* is one worker's copy of its elements
// of a window. Each slot has three counters that only grow: `claimed`, and one each for finished moves and visits. A
// worker repeats: send or receive messages, else visit a window that is ready, else claim and move a window, else sleep
// until a counter that it waits for changes. uses(window_number) is the value of a counter of moves when window
// `window_number` is complete, so counters are never reset.
//
// Example: reading with 2 workers, kSlots = 2. Worker 0 claims window 0 of its share (claimed 0 -> 1), fills it and
// raises moves to 1. Both workers copy their elements: visits becomes 1, then 2 = all_visits(0). Window 2 uses the same
// slot. It may be filled now, because visits has reached all_visits(0). When it is filled, moves becomes 2, and after
// both copies visits is 4 = all_visits(2).
//
// Memory order: a worker adds to a counter with release semantics after its copies, and reads counters with acquire
// semantics before it moves or visits. All changes of a counter are read-modify-write operations, so a worker that sees
// visits = 2 sees the copies of both workers. The claim decides between workers by compare-and-swap alone.

#include "access/window_move.hpp"

namespace plait::access {

WindowMove::WindowMove(const Access& access)
    : access_(access),
      io_(access_.plan, access_.store, access_.data_offset),
      remote_(access_),
      plan_(access_.plan),
      transport_(access_.transport),
      sharers_(access_.sees_all_arrays ? 1 : transport_.node_size()),
      slot_bytes_(plan_.window_elements() * plan_.element_bytes()),
      served_(served_peers()),
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

int WindowMove::served_peers() const {
  if (plan_.each_node()) return transport_.node_size();
  if (peer_reader(me()) == plan_.readers()) return 0;
  return plan_.shares().moves_alone() ? 1 : transport_.node_size();
}

bool WindowMove::wanted(Range range) const {
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
    work_alone();
    return error_.rethrow();
  }
  work_until([&] {
    return all([](const Progress& peer) { return peer.visited == peer.window_count; }) && nothing_left_to_move() &&
           remote_.done();
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
void WindowMove::work_alone() {
  for (int i = 0; i < served_; ++i) {
    Progress& peer_progress = progress(peer(i));
    for (; peer_progress.claimed < peer_progress.window_count; ++peer_progress.claimed) {
      if (failed()) return;
      const Range range = peer_window(peer(i), peer_progress.claimed);
      if (!claim(peer(i))) continue;
      if (std::byte* const in_array = find_in_arrays(plan_, copiers_, access_.arrays, range)) {
        move(range, in_array);
        continue;
      }
      if (moves_first()) move(range, window(me(), 0));
      visit(range, window(me(), 0));
      if (!moves_first()) move(range, window(me(), 0));
    }
  }
}

bool WindowMove::nothing_left_to_move() {
  for (int i = 0; i < served_; ++i)
    if (progress(peer(i)).claimed < progress(peer(i)).window_count) return false;
  return true;
}

void WindowMove::work_until(base::FunctionRef<bool()> done) {
  while (!done()) {
    // Messages come first, so that links are busy while this worker copies or waits for its disk.
    if (exchange_some() || visit_one() || move_one()) continue;
    const double copied = access_.times.copy;
    const auto can_continue = [&] { return something_to_do() || exchange_some() || done(); };
    {
      const collective::Stopwatch watch(access_.times.wait);
      if (remote_.under_way())
        transport_.await(can_continue);
      else
        transport::wait_until(can_continue, awaited(), transport_.gates().liveness());
    }
    access_.times.wait -= access_.times.copy - copied;
  }
}

/// Sends and receives messages. Returns true if a message was started or completed, or if one of this worker's windows
/// is now complete.
bool WindowMove::exchange_some() {
  if (!apart()) return false;
  const bool moved = exchange([this](std::int64_t window_number) -> std::byte* {
    return can_visit(slot(me(), window_number), window_number) ? window(me(), window_number) : nullptr;
  });
  return count_own() || moved;
}

/// Counts the visits of this worker's own windows. A visit counts only when the window's messages are done as well:
/// until then no worker may move the window.
bool WindowMove::count_own() {
  const std::int64_t before = counted_;
  for (; counted_ < std::min(progress(me()).visited, remote_.windows_done()); ++counted_) count_visit(me(), counted_);
  return counted_ > before;
}

bool WindowMove::something_to_do() {
  for (int i = 0; i < transport_.node_size(); ++i)
    if (visitable(peer(i)) || (movable(peer(i)) && i < served_)) return true;
  return false;
}

bool WindowMove::visitable(int peer) {
  const Progress& peer_progress = progress(peer);
  return peer_progress.visited < peer_progress.window_count &&
         can_visit(slot(peer, peer_progress.visited), peer_progress.visited);
}

/// True if the next unclaimed window of a peer may be moved. Skips windows that other workers have claimed meanwhile.
bool WindowMove::movable(int peer) {
  Progress& peer_progress = progress(peer);
  while (peer_progress.claimed < peer_progress.window_count &&
         transport::reached(slot(peer, peer_progress.claimed).claimed, uses(peer_progress.claimed)))
    ++peer_progress.claimed;
  return peer_progress.claimed < peer_progress.window_count &&
         can_move(slot(peer, peer_progress.claimed), peer_progress.claimed);
}

/// Claims the next window of a peer. Returns false if another worker has claimed it.
bool WindowMove::claim(int peer) {
  const std::int64_t window_number = progress(peer).claimed;
  std::uint32_t before = uses(window_number) - 1;
  return slot(peer, window_number)
      .claimed.compare_exchange_strong(before, uses(window_number), std::memory_order_acq_rel);
}

bool WindowMove::visit_one() {
  for (int i = 0; i < transport_.node_size(); ++i) {
    const int owner = peer(i);
    if (!visitable(owner)) continue;
    const std::int64_t window_number = progress(owner).visited++;
    visit(peer_window(owner, window_number), window(owner, window_number));
    if (owner == me() && apart())
      count_own();
    else
      count_visit(owner, window_number);
    return true;
  }
  return false;
}

bool WindowMove::move_one() {
  for (int i = 0; i < served_; ++i) {
    const int owner = peer(i);
    if (!movable(owner)) continue;
    const std::int64_t window_number = progress(owner).claimed;
    if (!claim(owner)) continue;
    move(peer_window(owner, window_number), window(owner, window_number));
    transport::Gates::raise(moves(slot(owner, window_number)));
    return true;
  }
  return false;
}

/// Returns the counter on which to sleep. It usually changes when there is work again. If another counter changes
/// first, wait_until() notices it because it tests its condition from time to time.
std::atomic<std::uint32_t>& WindowMove::awaited() {
  for (int i = 0; i < transport_.node_size(); ++i) {
    const Progress& peer_progress = progress(peer(i));
    if (peer_progress.visited < peer_progress.window_count) return moves(slot(peer(i), peer_progress.visited));
  }
  for (int i = 0; i < transport_.node_size(); ++i) {
    const Progress& peer_progress = progress(peer(i));
    if (peer_progress.claimed < peer_progress.window_count) return visits(slot(peer(i), peer_progress.claimed));
  }
  return moves(slot(me(), 0));
}

/// Adds a visit. The last visitor wakes the workers that can now move the window: they sleep on `visits`, or on `moves`
/// if they have another window to visit first.
void WindowMove::count_visit(int peer, std::int64_t window_number) {
  std::atomic<std::uint32_t>& counter = visits(slot(peer, window_number));
  if (counter.fetch_add(1, std::memory_order_acq_rel) + 1 != all_visits(window_number)) return;
  transport::wake_all(counter);
  transport::wake_all(moves(slot(peer, window_number)));
}

}  // namespace plait::access
