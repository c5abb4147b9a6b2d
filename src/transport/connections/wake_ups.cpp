#include "transport/connections/wake_ups.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <new>

namespace plait::transport::connections {

WakeUps::WakeUps(int rank, const Exchange& exchange)
    : self_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      directory_(rank, exchange(listen())),
      connections_(directory_, sockets_) {
  sure_ = sockets_.usable() && directory_.mine().local != 0;
  for (int peer = 0; peer < directory_.size(); ++peer) sure_ = sure_ && directory_.near(peer);
  // Whether sockets lead to other hosts is found out while all are there.
  if (const int far = directory_.first_far(); far >= 0) connections_.probe(far, Clock::now());
}

Directory::Address WakeUps::listen() {
  Directory::Address mine = Directory::own();
  if (!sockets_.usable()) return mine;
  if (self_.number() >= 0) sockets_.watch(self_.number());
  local_ = sockets_.listen_locally(mine.local_name());
  mine.local = local_ >= 0;
  network_ = sockets_.listen_on_network(mine.port);
  if (network_ < 0) return mine;
  const auto found = host::own_addresses();
  mine.addresses = static_cast<std::uint16_t>(std::min(found.size(), mine.network.size()));
  std::copy_n(found.begin(), mine.addresses, mine.network.begin());
  return mine;
}

Reach WakeUps::connect(int peer) {
  Reach reach = Reach::kReady;
  {
    const std::scoped_lock lock(mutex_);
    reach = connections_.call(peer, Clock::now());
  }
  // The handler may be asleep for longer than the steps of an attempt.
  if (reach == Reach::kNotYet) wake_self();
  return reach;
}

bool WakeUps::there(int peer) {
  if (directory_.near(peer)) return true;
  const std::scoped_lock lock(mutex_);
  return connections_.there(peer);
}

void WakeUps::wake(int peer, bool large) noexcept try {
  const std::scoped_lock lock(mutex_);
  connections_.wake(peer, large);
} catch (const std::bad_alloc&) {  // the message is found all the same, only later
}

void WakeUps::wake_self() {
  // Who finds it set relies on the write of who set it: the handler clears it after it has read that, and looks for
  // work after that.  Sequentially consistent on both sides: either the handler's look finds the work that was put in
  // before this exchange, or the exchange finds the flag cleared and writes.
  if (self_.number() < 0 || woken_.exchange(true)) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto put = ::write(self_.number(), &one, sizeof one);
}

/// Under the lock.
void WakeUps::accept_from(int listener) {
  for (int socket = 0; (socket = sockets_.accept(listener, listener == network_)) >= 0;) connections_.accepted(socket);
}

Woken WakeUps::wait(std::chrono::microseconds longest) {
  std::array<int, 32> room;
  const auto ready = sockets_.wait(longest, room);
  Woken woken;
  std::vector<Connections::News> news;
  {
    const std::scoped_lock lock(mutex_);
    for (const int socket : ready) {
      if (socket == self_.number()) {
        std::uint64_t count = 0;
        [[maybe_unused]] const auto got = ::read(socket, &count, sizeof count);
        woken_ = false;  // after the read: a wake-up in between finds this thread awake, one later writes anew
      } else if (socket == local_ || socket == network_) {
        accept_from(socket);
      } else {
        connections_.ready(socket, woken);
      }
    }
    connections_.advance(Clock::now());
    news = connections_.take_news();
  }
  // Who is told takes locks that callers of connect() hold.
  for (const Connections::News& one : news) {
    if (one.what == PeerNews::kGone && gone_) gone_(one.peer, one.took_leave);
    if (one.what == PeerNews::kReady && reached_) reached_(one.peer);
  }
  return woken;
}

void WakeUps::close() {
  const std::scoped_lock lock(mutex_);
  for (int* listener : {&local_, &network_}) {
    if (*listener < 0) continue;
    // Who has connected just now is told as well, rather than find this process ended.
    accept_from(*listener);
    sockets_.close(*listener);
    *listener = -1;
  }
  connections_.close();
  sockets_.stop();
}

}  // namespace plait::transport::connections
