#include "transport/connections/connection_attempt.hpp"

#include <cerrno>

namespace plait::transport::connections {

ConnectionAttempt::State ConnectionAttempt::go_on(Clock::time_point now) {
  while (true) {
    if (socket_ < 0 && now - first_ > kLostAfter)
      return refused_ ? State::kRefused : tried_ ? State::kLost : State::kUnable;
    if (socket_ < 0 && at_ == addresses_.size()) {
      // Of the addresses of one host, some may be another one's here: who refuses need not be the peer.
      if (refused_) return State::kRefused;
      if (now - round_ < kRound) return State::kTrying;
      round_ = now;
      at_ = 0;
    }
    const Step step = socket_ < 0 ? begin(now) : look(now);
    if (step == Step::kThere) return State::kThere;
    if (step == Step::kWait) return State::kTrying;
  }
}

ConnectionAttempt::Step ConnectionAttempt::begin(Clock::time_point now) {
  begun_ = now;
  const Sockets::Opened opened = sockets_.open_network(addresses_[at_]);
  tried_ = tried_ || opened.made;
  if (opened.socket < 0) return failed(opened.code);
  socket_ = opened.socket;
  return opened.code == EINPROGRESS ? Step::kWait : Step::kThere;
}

ConnectionAttempt::Step ConnectionAttempt::look(Clock::time_point now) {
  const int code = sockets_.outcome(socket_);
  if (code == 0) return Step::kThere;
  if (code != EINPROGRESS) return failed(code);
  return now - begun_ < kPatience ? Step::kWait : failed(ETIMEDOUT);
}

ConnectionAttempt::Step ConnectionAttempt::failed(int code) {
  refused_ = refused_ || code == ECONNREFUSED;
  drop();
  ++at_;
  return Step::kNext;
}

void ConnectionAttempt::drop() {
  if (socket_ >= 0) sockets_.close(release());
}

}  // namespace plait::transport::connections
