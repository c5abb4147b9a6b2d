// What becomes of the other ranks, as connections tell; on the server's thread.

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "base/text.hpp"
#include "base/wait/patiently.hpp"
#include "plait/error.hpp"
#include "transport/native/active/active_end.hpp"
#include "transport/native/active/addresses.hpp"
#include "transport/native/active/wire.hpp"

namespace plait::transport::native {

namespace {

/// How often it is asked whether hosts that are to take something, or to answer, are still there.
constexpr std::chrono::milliseconds kBetweenSilences{500};
/// How often a connection is made anew that ends before the other end serves it, and how much later each time: the
/// other end may have had no room for it, or this one no turn to prove itself in time.
constexpr int kMostTries = 10;
constexpr std::chrono::milliseconds kLaterEachTime{50};
/// So many processes have connections with all others while they wait for all.
constexpr int kMostWatched = 64;

CallFailure failure_gone(int rank) {
  return {ErrorKind::kSystem, EOWNERDEAD,
          base::text("rank ", rank, " has ended or left; nothing of it can be reached any more")};
}

CallFailure failure_unreachable(int rank, const Endpoints& to, const std::string& story) {
  return {ErrorKind::kSystem, EHOSTUNREACH,
          base::text("rank ", rank, " on host ", to.name, " cannot be reached from host ", own_host().name, ": ", story,
                     to.near() ? "" : "; hosts have to let each other's TCP connections in")};
}

}  // namespace

void ActiveEnd::taken(base::Descriptor socket, bool near) {
  std::shared_ptr<Callee> callee;
  try {
    callee = base::patiently("take a connection in", [&] {
      auto made = std::make_shared<Callee>(Callee::Home{*this, *this, *service_, *loop_});
      unknown_.insert(made);
      return made;
    });
    base::patiently("wait for a connection", [&] { callee->open(std::move(socket), near); });
  } catch (const Error&) {  // who has connected finds the connection closed
    unknown_.erase(callee);
  }
}

bool ActiveEnd::introduced(const std::shared_ptr<Callee>& callee, int rank) {
  if (rank < 0 || rank >= size_ || gone_.contains(rank)) return false;
  {
    const std::scoped_lock lock(mutex_);
    const auto [at, first] = base::patiently("serve a rank", [&] { return callees_.emplace(rank, callee); });
    if (!first) return false;
  }
  unknown_.erase(callee);
  if (callee->far()) loop_->look_at_clock_by(Clock::now() + kBetweenSilences);
  for (const int lost : lost_) base::patiently("tell of a loss", [&] { callee->tell_loss(lost); });
  return true;
}

void ActiveEnd::ended(const Callee* callee, int rank, bool took_leave) {
  if (rank >= 0) {
    if (callee == nullptr && tries_again(rank)) return;
    return peer_gone(rank, took_leave);
  }
  for (auto one = unknown_.begin(); one != unknown_.end(); ++one) {
    if (one->get() != callee) continue;
    const auto kept = *one;
    unknown_.erase(one);
    return kept->end();
  }
}

bool ActiveEnd::tries_again(int rank) {
  Caller* const caller = find_caller(rank);
  if (caller == nullptr || !caller->forget_unwelcome()) return false;
  Again& again = *base::patiently("connect to a rank again", [&] { return &again_[rank]; });
  if (++again.tries > kMostTries) return false;
  again.when = Clock::now() + again.tries * kLaterEachTime;
  again.waits = true;
  loop_->look_at_clock_by(again.when);
  return true;
}

void ActiveEnd::connect_again(Clock::time_point now) {
  for (auto& [rank, again] : again_)
    if (again.when <= now && std::exchange(again.waits, false)) connect(rank);
}

void ActiveEnd::connect(int rank) {
  Caller* const caller = find_caller(rank);
  if (over_ || caller == nullptr || gone_.contains(rank) || attempts_.contains(rank)) return;
  const Endpoints& to = endpoints_[static_cast<std::size_t>(rank)];
  base::patiently("connect to a rank", [&] {
    auto attempt = std::make_shared<ConnectionAttempt>(
        *loop_, leading_to(to), key_, [this, rank](ConnectionAttempt& changed) { attempted(rank, changed); });
    attempts_[rank] = attempt;
    attempt->go_on(Clock::now());
  });
}

void ActiveEnd::attempted(int rank, ConnectionAttempt& attempt) {
  using State = ConnectionAttempt::State;
  const auto kept = attempts_.extract(rank);
  if (attempt.state() == State::kThere) return connected(rank, attempt);
  const Endpoints& to = endpoints_[static_cast<std::size_t>(rank)];
  const bool answered = attempt.state() == State::kRefused;
  const bool tried = answered || attempt.state() == State::kUnanswered;
  if (answered && to.near()) return peer_gone(rank, true);
  // Where sockets lead to other hosts, and not to this one, it is no firewall's doing.
  if (tried && led_away_) {
    if (!callee_of(rank)) return peer_gone(rank, false);
    // The rank's own connection may be about to end as well: it is waited for as long again.
    if (!answered && doubted_.insert(rank).second) return connect(rank);
  }
  doubted_.erase(rank);
  if (Caller* const caller = find_caller(rank))
    caller->unreachable(base::patiently("tell that a rank cannot be reached",
                                        [&] { return failure_unreachable(rank, to, attempt.story()); }));
}

void ActiveEnd::connected(int rank, ConnectionAttempt& attempt) {
  Caller* const caller = find_caller(rank);
  if (caller == nullptr) return;
  const bool near = attempt.near();
  auto socket = attempt.socket();
  if (!near) {
    led_away_ = true;
    loop_->look_at_clock_by(Clock::now() + kBetweenSilences);
  }
  try {
    caller->connected(std::move(socket), near, {answers_.number(), static_cast<std::uint64_t>(rank)}, rank_);
    for (const int lost : lost_) caller->tell_loss(lost);
  } catch (const std::bad_alloc&) {
    caller->unreachable({ErrorKind::kSystem, ENOMEM, {}});
  } catch (const Error& error) {
    caller->unreachable({error.kind(), error.system_code(), error.what()});
  }
}

/// Whether sockets lead to other hosts is found out while all are there.
void ActiveEnd::probe() {
  for (int step = 1; step < size_; ++step) {
    const int rank = (rank_ + step) % size_;
    const Endpoints& to = endpoints_[static_cast<std::size_t>(rank)];
    if (to.near() || leading_to(to).empty()) continue;
    Caller* const caller = find_caller(rank);
    if (caller != nullptr && caller->watch()) connect(rank);
    return;
  }
}

/// All others, where they are few; else some, who tell each other.
void ActiveEnd::watch_others() {
  const auto watch = [this](int rank) {
    if (rank == rank_ || rank >= size_) return;
    Caller* const caller = find_caller(rank);
    if (caller != nullptr && caller->watch()) connect(rank);
  };
  for (int other = 0; other < size_ && size_ <= kMostWatched; ++other) watch(other);
  for (int bit = 1; bit < size_ && size_ > kMostWatched; bit *= 2) watch(rank_ ^ bit);
}

void ActiveEnd::peer_gone(int rank, bool took_leave) {
  if (!base::patiently("note who has gone", [&] { return gone_.insert(rank).second; })) return;
  const auto gone = [rank] { return base::patiently("tell that a rank has gone", [&] { return failure_gone(rank); }); };
  if (const auto attempt = attempts_.extract(rank)) attempt.mapped()->end();
  if (Caller* const caller = find_caller(rank)) caller->end(gone());
  std::shared_ptr<Callee> callee;
  {
    const std::scoped_lock lock(mutex_);
    if (auto found = callees_.extract(rank)) callee = std::move(found.mapped());
  }
  if (callee) callee->end();
  service_->left(rank);
  if (!took_leave) peer_lost(rank);
}

void ActiveEnd::peer_lost(int rank) {
  if (!base::patiently("note a loss", [&] { return lost_.insert(rank).second; })) return;
  if (losses_) losses_->record(rank);
  std::vector<std::shared_ptr<Callee>> callees;
  {
    const std::scoped_lock lock(mutex_);
    base::patiently("tell of a loss", [&] { callees.reserve(callees_.size()); });
    for (const auto& [number, callee] : callees_) callees.push_back(callee);
  }
  for (const auto& callee : callees) callee->tell_loss(rank);
  for (Caller* const caller : callers()) caller->tell_loss(rank);
}

void ActiveEnd::heard_of_loss(int lost, int from) noexcept {
  base::patiently("take the loss of a rank in", [&] {
    loop_->post([this, lost, from] {
      // One whom another one has lost reaches not all any more.
      if (lost == rank_ && losses_) losses_->record(from);
      if (lost != rank_ && lost >= 0 && lost < size_) peer_lost(lost);
    });
  });
}

Clock::time_point ActiveEnd::look_at_clock(Clock::time_point now) {
  const auto under_way = base::patiently("go on connecting", [this] { return attempts_; });
  for (const auto& [rank, attempt] : under_way) attempt->go_on(now);
  connect_again(now);
  Clock::time_point next = Clock::time_point::max();
  for (const auto& [rank, again] : again_)
    if (again.waits) next = std::min(next, again.when);
  for (const auto& [rank, attempt] : attempts_) next = std::min(next, attempt->next());
  if (silence_ + kBetweenSilences <= now) {
    silence_ = now;
    look_for_silence();
  }
  return any_far() ? std::min(next, silence_ + kBetweenSilences) : next;
}

bool ActiveEnd::any_far() {
  for (const Caller* const caller : callers())
    if (caller->far()) return true;
  const std::scoped_lock lock(mutex_);
  return std::any_of(callees_.begin(), callees_.end(), [](const auto& one) { return one.second->far(); });
}

void ActiveEnd::look_for_silence() {
  std::vector<int> silent;
  {
    const std::scoped_lock lock(mutex_);
    base::patiently("look for silence", [&] { silent.reserve(callers_.size() + callees_.size()); });
    for (const auto& [rank, caller] : callers_)
      if (caller && caller->is_silent()) silent.push_back(rank);
    for (const auto& [rank, callee] : callees_)
      if (callee->is_silent()) silent.push_back(rank);
  }
  for (const int rank : silent) peer_gone(rank, false);
}

void ActiveEnd::end_all() {
  over_ = true;
  const auto calling = callers();
  std::map<int, std::shared_ptr<Callee>> served;
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
    served.swap(callees_);
  }
  for (const auto& [rank, attempt] : attempts_) attempt->end();
  attempts_.clear();
  const FrameHead last = frame_head(ActiveFrame::kLeaving, 0);
  for (Caller* const caller : calling) caller->leave(last);
  for (const auto& [rank, callee] : served) callee->leave(last);
  for (const auto& callee : unknown_) callee->leave(last);
  for (Caller* const caller : calling) caller->end(stopped());
  for (const auto& [rank, callee] : served) callee->end();
  for (const auto& callee : std::exchange(unknown_, {})) callee->end();
}

}  // namespace plait::transport::native
