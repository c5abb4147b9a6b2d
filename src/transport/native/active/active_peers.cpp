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
/// Maximum number of ranks of a job in which each rank watches all others while it waits; in larger jobs, each rank
/// watches only some.
constexpr int kMaxWatched = 64;

CallFailure failure_gone(int rank) {
  return {ErrorKind::kSystem, EOWNERDEAD,
          base::text("rank ", rank, " has ended or left; nothing of it can be reached any more")};
}

CallFailure failure_unreachable(int rank, const Endpoints& to, const std::string& results) {
  return {ErrorKind::kSystem, EHOSTUNREACH,
          base::text("rank ", rank, " on host ", to.name, " cannot be reached from host ", own_host().name, ": ",
                     results, to.is_on_this_host() ? "" : "; hosts have to let each other's TCP connections in")};
}

/// Returns the event of a finished attempt.  is_local: the rank is on this host.
PeerEvent to_event(const ConnectionAttempt& attempt, bool is_local) {
  switch (attempt.state()) {
    case ConnectionAttempt::State::kConnected: return PeerEvent::kReached;
    case ConnectionAttempt::State::kRefused: return is_local ? PeerEvent::kRefusedHere : PeerEvent::kRefused;
    case ConnectionAttempt::State::kUnanswered: return PeerEvent::kUnanswered;
    default: return PeerEvent::kUnable;
  }
}

}  // namespace

ActiveEnd::PeerConnections& ActiveEnd::peer_connections(int rank) {
  return base::retry_allocation("record the connections of a rank", [&]() -> PeerConnections& {
    const std::scoped_lock lock(mutex_);
    return ranks_[rank];
  });
}

/// Returns nullptr if this end has stopped.
Caller* ActiveEnd::get_caller(int rank) {
  return base::retry_allocation("record the connections of a rank", [&] { return find_caller(rank); });
}

std::vector<std::pair<int, ActiveEnd::PeerConnections*>> ActiveEnd::all_ranks() {
  std::vector<std::pair<int, PeerConnections*>> all;
  const std::scoped_lock lock(mutex_);
  base::retry_allocation("list all ranks", [&] { all.reserve(ranks_.size()); });
  for (auto& [rank, peer] : ranks_) all.emplace_back(rank, &peer);
  return all;
}

ActiveEnd::Connections ActiveEnd::connections() {
  Connections all;
  const std::scoped_lock lock(mutex_);
  base::retry_allocation("list all connections", [&] {
    all.callers.reserve(ranks_.size());
    all.callees.reserve(ranks_.size());
  });
  for (const auto& [rank, peer] : ranks_) {
    if (peer.caller) all.callers.push_back(peer.caller.get());
    if (peer.callee) all.callees.push_back(peer.callee);
  }
  return all;
}

/// Returns the lost ranks.
std::vector<int> ActiveEnd::lost_ranks() {
  std::vector<int> ranks;
  for (const auto& [rank, peer] : all_ranks())
    if (peer->record.is_lost) base::retry_allocation("report a loss", [&, number = rank] { ranks.push_back(number); });
  return ranks;
}

/// Changes the state of a rank, and returns the actions that the caller of this function must carry out.
PeerTransition ActiveEnd::enter_next_state(int rank, PeerEvent event, Clock::time_point now) {
  PeerConnections& peer = peer_connections(rank);
  const PeerTransition transition =
      next_state(peer.record, event, {now, has_reached_other_host_, find_callee(rank) != nullptr});
  peer.record = transition.after;
  return transition;
}

/// Carries out the actions that need only the rank.  The callers carry out kTake, kFail and kServe.
void ActiveEnd::carry_out(int rank, const PeerTransition& transition) {
  if (transition.act == PeerAction::kConnect) connect(rank);
  if (transition.act == PeerAction::kWait) loop_->set_timer(transition.after.retry_at);
  if (transition.act == PeerAction::kEnd) close_peer(rank);
  if (transition.reports_loss) report_loss_to_all(rank);
}

void ActiveEnd::on_connection(base::Descriptor socket, bool is_local) {
  std::shared_ptr<Callee> callee;
  try {
    callee = base::retry_allocation("accept a connection", [&] {
      auto connected = std::make_shared<Callee>(Callee::Common{*this, *this, *service_, *loop_});
      unidentified_.insert(connected);
      return connected;
    });
    base::retry_allocation("wait for a connection", [&] { callee->open(std::move(socket), is_local); });
  } catch (const Error&) {  // the peer sees that the connection is closed
    unidentified_.erase(callee);
  }
}

bool ActiveEnd::on_introduced(const std::shared_ptr<Callee>& callee, int rank) {
  if (rank < 0 || rank >= size_) return false;
  if (enter_next_state(rank, PeerEvent::kIntroduced, Clock::now()).act != PeerAction::kServe) return false;
  PeerConnections& peer = peer_connections(rank);
  {
    const std::scoped_lock lock(mutex_);
    peer.callee = callee;
  }
  unidentified_.erase(callee);
  if (callee->is_remote()) loop_->set_timer(Clock::now() + kSilenceInterval);
  for (const int other : lost_ranks()) callee->report_loss(other);
  return true;
}

void ActiveEnd::on_ended(const Callee* callee, int rank, bool has_taken_leave) {
  if (rank >= 0) {
    Caller* const caller = callee == nullptr ? get_caller(rank) : nullptr;
    if (caller != nullptr && caller->discard_unserved()) return handle_event(rank, PeerEvent::kDropped);
    return handle_event(rank, has_taken_leave ? PeerEvent::kLeft : PeerEvent::kBroken);
  }
  for (auto entry = unidentified_.begin(); entry != unidentified_.end(); ++entry) {
    if (entry->get() != callee) continue;
    const auto owner = *entry;  // keeps the callee alive until it has ended
    unidentified_.erase(entry);
    return owner->end();
  }
}

void ActiveEnd::connect(int rank) {
  if (has_ended_) return;
  const Endpoints& to = endpoints_[static_cast<std::size_t>(rank)];
  PeerConnections& peer = peer_connections(rank);
  base::retry_allocation("connect to a rank", [&] {
    auto attempt = std::make_shared<ConnectionAttempt>(
        *loop_, find_usable_addresses(to), key_,
        [this, rank](ConnectionAttempt& changed) { on_attempt_ended(rank, changed); });
    peer.attempt = attempt;
    attempt->go_on(Clock::now());
  });
}

void ActiveEnd::on_attempt_ended(int rank, ConnectionAttempt& attempt) {
  const auto owner = std::exchange(peer_connections(rank).attempt, nullptr);  // keeps `attempt` alive in this function
  const Endpoints& to = endpoints_[static_cast<std::size_t>(rank)];
  const PeerTransition transition = enter_next_state(rank, to_event(attempt, to.is_on_this_host()), Clock::now());
  if (transition.act == PeerAction::kTake) return use_connection(rank, attempt);
  if (transition.act != PeerAction::kFail) return carry_out(rank, transition);
  if (Caller* const caller = get_caller(rank))
    caller->on_unreachable(base::retry_allocation("report that a rank cannot be reached", [&] {
      return failure_unreachable(rank, to, attempt.describe_results());
    }));
}

/// Sends the calls to a rank on the connection that an attempt has made.
void ActiveEnd::use_connection(int rank, ConnectionAttempt& attempt) {
  Caller* const caller = get_caller(rank);
  if (caller == nullptr) return;
  const bool is_local = attempt.is_local();
  auto socket = attempt.take_socket();
  if (!is_local) {
    has_reached_other_host_ = true;
    loop_->set_timer(Clock::now() + kSilenceInterval);
  }
  CallFailure why;
  try {
    caller->on_connected(std::move(socket), is_local, {answers_.number(), static_cast<std::uint64_t>(rank)}, rank_);
    for (const int other : lost_ranks()) caller->report_loss(other);
    return;
  } catch (const std::bad_alloc&) {
    why = {ErrorKind::kSystem, ENOMEM, {}};
  } catch (const Error& error) {
    why = base::retry_allocation("report that a rank cannot be reached",
                                 [&] { return CallFailure{error.kind(), error.system_code(), error.what()}; });
  }
  // Change the state first, because a caller whose call has failed may call again at once.
  enter_next_state(rank, PeerEvent::kUnusable, Clock::now());
  caller->on_unreachable(why);
}

/// Connects to the next rank on another host, while all ranks still exist: if this connection succeeds, no firewall
/// blocks all connections to other hosts, and a rank that cannot be reached later can count as lost.
void ActiveEnd::probe() {
  for (int distance = 1; distance < size_; ++distance) {
    const int rank = (rank_ + distance) % size_;
    const Endpoints& to = endpoints_[static_cast<std::size_t>(rank)];
    if (to.is_on_this_host() || find_usable_addresses(to).empty()) continue;
    Caller* const caller = get_caller(rank);
    if (caller != nullptr && caller->watch()) handle_event(rank, PeerEvent::kWanted);
    return;
  }
}

/// Watches all other ranks if there are at most kMaxWatched.  Otherwise watches the neighbours in a hypercube (rank xor
/// 1, 2, 4, ...), and all ranks forward reports of losses.
void ActiveEnd::watch_others() {
  const auto watch = [this](int rank) {
    if (rank == rank_ || rank >= size_) return;
    Caller* const caller = get_caller(rank);
    if (caller != nullptr && caller->watch()) handle_event(rank, PeerEvent::kWanted);
  };
  for (int other = 0; other < size_ && size_ <= kMaxWatched; ++other) watch(other);
  for (int bit = 1; bit < size_ && size_ > kMaxWatched; bit *= 2) watch(rank_ ^ bit);
}

void ActiveEnd::close_peer(int rank) {
  PeerConnections& peer = peer_connections(rank);
  if (const auto attempt = std::exchange(peer.attempt, nullptr)) attempt->end();
  if (Caller* const caller = get_caller(rank))
    caller->end(base::retry_allocation("report that a rank has gone", [&] { return failure_gone(rank); }));
  std::shared_ptr<Callee> callee;
  {
    const std::scoped_lock lock(mutex_);
    callee.swap(peer.callee);
  }
  if (callee) callee->end();
  service_->on_worker_ended(rank);
}

void ActiveEnd::report_loss_to_all(int lost) {
  if (losses_) losses_->record(lost);
  const Connections all = connections();
  for (const auto& callee : all.callees) callee->report_loss(lost);
  for (Caller* const caller : all.callers) caller->report_loss(lost);
}

void ActiveEnd::on_loss(int lost, int from) noexcept {
  base::retry_allocation("handle the loss of a rank", [&] {
    loop_->post([this, lost, from] {
      // Another rank considers this rank lost and does not forward the reports of this rank any more, so waits of this
      // rank must fail.
      if (lost == rank_ && losses_) losses_->record(from);
      if (lost != rank_ && lost >= 0 && lost < size_) handle_event(lost, PeerEvent::kReportedLost);
    });
  });
}

Clock::time_point ActiveEnd::on_timer(Clock::time_point now) {
  const auto all = all_ranks();
  for (const auto& [rank, peer] : all)
    if (const auto attempt = peer->attempt) attempt->go_on(now);
  for (const auto& [rank, peer] : all)
    if (peer->record.state == PeerState::kRetryWait) carry_out(rank, enter_next_state(rank, PeerEvent::kTime, now));
  Clock::time_point next = Clock::time_point::max();
  for (const auto& [rank, peer] : all) {
    if (peer->record.state == PeerState::kRetryWait) next = std::min(next, peer->record.retry_at);
    if (peer->attempt) next = std::min(next, peer->attempt->next_time());
  }
  if (last_silence_check_ + kSilenceInterval <= now) {
    last_silence_check_ = now;
    check_silent_hosts();
  }
  const Connections open = connections();
  const auto is_remote = [](const auto& connection) { return connection->is_remote(); };
  const bool any_far = std::ranges::any_of(open.callers, is_remote) || std::ranges::any_of(open.callees, is_remote);
  return any_far ? std::min(next, last_silence_check_ + kSilenceInterval) : next;
}

void ActiveEnd::check_silent_hosts() {
  std::vector<int> silent;
  {
    const std::scoped_lock lock(mutex_);
    base::retry_allocation("look for hosts that do not answer", [&] { silent.reserve(ranks_.size()); });
    for (const auto& [rank, peer] : ranks_)
      if ((peer.caller && peer.caller->is_silent()) || (peer.callee && peer.callee->is_silent()))
        silent.push_back(rank);
  }
  for (const int rank : silent) handle_event(rank, PeerEvent::kBroken);
}

void ActiveEnd::end_all() {
  has_ended_ = true;
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
  for (Caller* const caller : all.callers) caller->leave(last);
  for (const auto& callee : all.callees) callee->leave(last);
  for (const auto& callee : unidentified_) callee->leave(last);
  for (Caller* const caller : all.callers) caller->end(make_stopped_failure());
  for (const auto& callee : all.callees) callee->end();
  for (const auto& callee : std::exchange(unidentified_, {})) callee->end();
}

}  // namespace plait::transport::native
