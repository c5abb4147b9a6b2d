// Applies the transitions of peer_state.cpp to the connections with other ranks, on the server's thread.

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "base/text.hpp"
#include "base/wait/retry_allocation.hpp"
#include "plait/error.hpp"
#include "transport/native/active/active_end.hpp"
#include "transport/native/active/addresses.hpp"
#include "transport/native/active/wire.hpp"

namespace plait::transport::native {

namespace {

/// Interval of the checks for silent hosts.
constexpr std::chrono::milliseconds kSilenceInterval{500};
/// Maximum number of ranks that all watch each other while they wait; in larger jobs, each rank watches only some.
constexpr int kMaxWatched = 64;

CallFailure failure_gone(int rank) {
  return {ErrorKind::kSystem, EOWNERDEAD,
          base::text("rank ", rank, " has ended or left; nothing of it can be reached any more")};
}

CallFailure failure_unreachable(int rank, const Endpoints& to, const std::string& story) {
  return {ErrorKind::kSystem, EHOSTUNREACH,
          base::text("rank ", rank, " on host ", to.name, " cannot be reached from host ", own_host().name, ": ", story,
                     to.near() ? "" : "; hosts have to let each other's TCP connections in")};
}

/// Returns the event of a finished attempt.  is_local: its addresses are on this host.
PeerEvent to_event(const ConnectionAttempt& attempt, bool is_local) {
  switch (attempt.state()) {
    case ConnectionAttempt::State::kConnected: return PeerEvent::kReached;
    case ConnectionAttempt::State::kRefused: return is_local ? PeerEvent::kRefusedHere : PeerEvent::kRefused;
    case ConnectionAttempt::State::kUnanswered: return PeerEvent::kUnanswered;
    default: return PeerEvent::kUnable;
  }
}

}  // namespace

ActiveEnd::PeerConnections& ActiveEnd::rank_record(int rank) {
  return base::retry_allocation("take note of a rank", [&]() -> PeerConnections& {
    const std::scoped_lock lock(mutex_);
    return ranks_[rank];
  });
}

/// Returns nullptr if this end has stopped.
Caller* ActiveEnd::get_caller(int rank) {
  return base::retry_allocation("take note of a rank", [&] { return find_caller(rank); });
}

std::vector<std::pair<int, ActiveEnd::PeerConnections*>> ActiveEnd::all_ranks() {
  std::vector<std::pair<int, PeerConnections*>> all;
  const std::scoped_lock lock(mutex_);
  base::retry_allocation("look at all ranks", [&] { all.reserve(ranks_.size()); });
  for (auto& [rank, peer] : ranks_) all.emplace_back(rank, &peer);
  return all;
}

ActiveEnd::Connections ActiveEnd::connections() {
  Connections all;
  const std::scoped_lock lock(mutex_);
  base::retry_allocation("look at all connections", [&] {
    all.calling.reserve(ranks_.size());
    all.served.reserve(ranks_.size());
  });
  for (const auto& [rank, peer] : ranks_) {
    if (peer.caller) all.calling.push_back(peer.caller.get());
    if (peer.callee) all.served.push_back(peer.callee);
  }
  return all;
}

/// Returns the lost ranks.
std::vector<int> ActiveEnd::lost() {
  std::vector<int> ranks;
  for (const auto& [rank, peer] : all_ranks())
    if (peer->record.lost) base::retry_allocation("report a loss", [&, number = rank] { ranks.push_back(number); });
  return ranks;
}

PeerTransition ActiveEnd::decide(int rank, PeerEvent event, Clock::time_point now) {
  PeerConnections& peer = rank_record(rank);
  const PeerTransition transition = next_state(peer.record, event, {now, led_away_, find_callee(rank) != nullptr});
  peer.record = transition.after;
  return transition;
}

/// Carries out the actions that need only the rank.  The callers carry out kTake, kFail and kServe.
void ActiveEnd::carry_out(int rank, const PeerTransition& transition) {
  if (transition.act == PeerAction::kConnect) connect(rank);
  if (transition.act == PeerAction::kWait) loop_->set_timer(transition.after.retry_at);
  if (transition.act == PeerAction::kEnd) end_peer(rank);
  if (transition.reports_loss) report_loss_to_all(rank);
}

void ActiveEnd::taken(base::Descriptor socket, bool near) {
  std::shared_ptr<Callee> callee;
  try {
    callee = base::retry_allocation("take a connection in", [&] {
      auto connected = std::make_shared<Callee>(Callee::Common{*this, *this, *service_, *loop_});
      unknown_.insert(connected);
      return connected;
    });
    base::retry_allocation("wait for a connection", [&] { callee->open(std::move(socket), near); });
  } catch (const Error&) {  // the peer sees that the connection is closed
    unknown_.erase(callee);
  }
}

bool ActiveEnd::introduced(const std::shared_ptr<Callee>& callee, int rank) {
  if (rank < 0 || rank >= size_) return false;
  if (decide(rank, PeerEvent::kIntroduced, Clock::now()).act != PeerAction::kServe) return false;
  PeerConnections& peer = rank_record(rank);
  {
    const std::scoped_lock lock(mutex_);
    peer.callee = callee;
  }
  unknown_.erase(callee);
  if (callee->far()) loop_->set_timer(Clock::now() + kSilenceInterval);
  for (const int other : lost()) callee->report_loss(other);
  return true;
}

void ActiveEnd::ended(const Callee* callee, int rank, bool took_leave) {
  if (rank >= 0) {
    Caller* const caller = callee == nullptr ? get_caller(rank) : nullptr;
    if (caller != nullptr && caller->take_dropped()) return apply(rank, PeerEvent::kDropped);
    return apply(rank, took_leave ? PeerEvent::kLeft : PeerEvent::kBroken);
  }
  for (auto entry = unknown_.begin(); entry != unknown_.end(); ++entry) {
    if (entry->get() != callee) continue;
    const auto owner = *entry;  // keeps the callee alive until it has ended
    unknown_.erase(entry);
    return owner->end();
  }
}

void ActiveEnd::connect(int rank) {
  if (over_) return;
  const Endpoints& to = endpoints_[static_cast<std::size_t>(rank)];
  PeerConnections& peer = rank_record(rank);
  base::retry_allocation("connect to a rank", [&] {
    auto attempt = std::make_shared<ConnectionAttempt>(
        *loop_, leading_to(to), key_, [this, rank](ConnectionAttempt& changed) { attempted(rank, changed); });
    peer.attempt = attempt;
    attempt->go_on(Clock::now());
  });
}

void ActiveEnd::attempted(int rank, ConnectionAttempt& attempt) {
  const auto owner = std::exchange(rank_record(rank).attempt, nullptr);  // keeps `attempt` alive in this function
  const Endpoints& to = endpoints_[static_cast<std::size_t>(rank)];
  const PeerTransition transition = decide(rank, to_event(attempt, to.near()), Clock::now());
  if (transition.act == PeerAction::kTake) return call_by(rank, attempt);
  if (transition.act != PeerAction::kFail) return carry_out(rank, transition);
  if (Caller* const caller = get_caller(rank))
    caller->unreachable(base::retry_allocation("report that a rank cannot be reached",
                                               [&] { return failure_unreachable(rank, to, attempt.story()); }));
}

void ActiveEnd::call_by(int rank, ConnectionAttempt& attempt) {
  Caller* const caller = get_caller(rank);
  if (caller == nullptr) return;
  const bool near = attempt.near();
  auto socket = attempt.socket();
  if (!near) {
    led_away_ = true;
    loop_->set_timer(Clock::now() + kSilenceInterval);
  }
  CallFailure why;
  try {
    caller->connected(std::move(socket), near, {answers_.number(), static_cast<std::uint64_t>(rank)}, rank_);
    for (const int other : lost()) caller->report_loss(other);
    return;
  } catch (const std::bad_alloc&) {
    why = {ErrorKind::kSystem, ENOMEM, {}};
  } catch (const Error& error) {
    why = base::retry_allocation("report that a rank cannot be reached",
                                 [&] { return CallFailure{error.kind(), error.system_code(), error.what()}; });
  }
  // Change the state first, because a caller whose call has failed may call again at once.
  decide(rank, PeerEvent::kUnusable, Clock::now());
  caller->unreachable(why);
}

/// Connects to one rank on another host while all ranks exist, to find out if a firewall blocks connections.
void ActiveEnd::probe() {
  for (int distance = 1; distance < size_; ++distance) {
    const int rank = (rank_ + distance) % size_;
    const Endpoints& to = endpoints_[static_cast<std::size_t>(rank)];
    if (to.near() || leading_to(to).empty()) continue;
    Caller* const caller = get_caller(rank);
    if (caller != nullptr && caller->watch()) apply(rank, PeerEvent::kWanted);
    return;
  }
}

/// Watches all other ranks if there are at most kMaxWatched.  Otherwise watches the neighbours in a hypercube (rank xor
/// 1, 2, 4, ...), and all ranks forward reports of losses.
void ActiveEnd::watch_others() {
  const auto watch = [this](int rank) {
    if (rank == rank_ || rank >= size_) return;
    Caller* const caller = get_caller(rank);
    if (caller != nullptr && caller->watch()) apply(rank, PeerEvent::kWanted);
  };
  for (int other = 0; other < size_ && size_ <= kMaxWatched; ++other) watch(other);
  for (int bit = 1; bit < size_ && size_ > kMaxWatched; bit *= 2) watch(rank_ ^ bit);
}

void ActiveEnd::end_peer(int rank) {
  PeerConnections& peer = rank_record(rank);
  if (const auto attempt = std::exchange(peer.attempt, nullptr)) attempt->end();
  if (Caller* const caller = get_caller(rank))
    caller->end(base::retry_allocation("report that a rank has gone", [&] { return failure_gone(rank); }));
  std::shared_ptr<Callee> callee;
  {
    const std::scoped_lock lock(mutex_);
    callee.swap(peer.callee);
  }
  if (callee) callee->end();
  service_->left(rank);
}

void ActiveEnd::report_loss_to_all(int lost) {
  if (losses_) losses_->record(lost);
  const Connections all = connections();
  for (const auto& callee : all.served) callee->report_loss(lost);
  for (Caller* const caller : all.calling) caller->report_loss(lost);
}

void ActiveEnd::on_loss(int lost, int from) noexcept {
  base::retry_allocation("take the loss of a rank in", [&] {
    loop_->post([this, lost, from] {
      // Another rank considers this one lost, and does not forward its reports any more, so waits of this rank must
      // fail.
      if (lost == rank_ && losses_) losses_->record(from);
      if (lost != rank_ && lost >= 0 && lost < size_) apply(lost, PeerEvent::kReportedLost);
    });
  });
}

Clock::time_point ActiveEnd::on_timer(Clock::time_point now) {
  const auto all = all_ranks();
  for (const auto& [rank, peer] : all)
    if (const auto attempt = peer->attempt) attempt->go_on(now);
  for (const auto& [rank, peer] : all)
    if (peer->record.state == PeerState::kRetryWait) carry_out(rank, decide(rank, PeerEvent::kTime, now));
  Clock::time_point next = Clock::time_point::max();
  for (const auto& [rank, peer] : all) {
    if (peer->record.state == PeerState::kRetryWait) next = std::min(next, peer->record.retry_at);
    if (peer->attempt) next = std::min(next, peer->attempt->next());
  }
  if (last_silence_check_ + kSilenceInterval <= now) {
    last_silence_check_ = now;
    check_silent_hosts();
  }
  const Connections open = connections();
  const auto is_far = [](const auto& connection) { return connection->far(); };
  const bool any_far = std::ranges::any_of(open.calling, is_far) || std::ranges::any_of(open.served, is_far);
  return any_far ? std::min(next, last_silence_check_ + kSilenceInterval) : next;
}

void ActiveEnd::check_silent_hosts() {
  std::vector<int> silent;
  {
    const std::scoped_lock lock(mutex_);
    base::retry_allocation("look for silence", [&] { silent.reserve(ranks_.size()); });
    for (const auto& [rank, peer] : ranks_)
      if ((peer.caller && peer.caller->is_silent()) || (peer.callee && peer.callee->is_silent()))
        silent.push_back(rank);
  }
  for (const int rank : silent) apply(rank, PeerEvent::kBroken);
}

void ActiveEnd::end_all() {
  over_ = true;
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
  }
  const Connections all = connections();
  for (const auto& [rank, peer] : all_ranks()) {
    if (const auto attempt = std::exchange(peer->attempt, nullptr)) attempt->end();
    const std::scoped_lock lock(mutex_);
    peer->callee.reset();  // `all` still owns it
  }
  const FrameHead last = frame_head(ActiveFrame::kLeaving, 0);
  for (Caller* const caller : all.calling) caller->leave(last);
  for (const auto& callee : all.served) callee->leave(last);
  for (const auto& callee : unknown_) callee->leave(last);
  for (Caller* const caller : all.calling) caller->end(stopped());
  for (const auto& callee : all.served) callee->end();
  for (const auto& callee : std::exchange(unknown_, {})) callee->end();
}

}  // namespace plait::transport::native
