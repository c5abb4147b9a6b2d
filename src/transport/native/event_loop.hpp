/// What connections need of the thread that they share.
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "base/descriptor.hpp"
#include "transport/native/frame.hpp"

namespace plait::transport::native {

/// What hears of the events of a socket.
class EventHandler {
 public:
  virtual ~EventHandler() = default;
  /// What epoll says.  On the server's thread; throws nothing, and does not wait.
  virtual void on_event(std::uint32_t events) = 0;
};

/// Where a socket is watched, and under which number.
/// threads  Any.
class Watch {
 public:
  Watch() = default;
  Watch(int set, std::uint64_t id) : set_(set), id_(id) {}
  std::uint64_t id() const { return id_; }
  /// Whether the socket could be put into the set, or changed there.  One that is closed is not in it any more.
  bool begin(int socket, std::uint32_t events) const { return control(EPOLL_CTL_ADD, socket, events); }
  bool change(int socket, std::uint32_t events) const { return control(EPOLL_CTL_MOD, socket, events); }
  void end(int socket) const { control(EPOLL_CTL_DEL, socket, 0); }

 private:
  bool control(int operation, int socket, std::uint32_t events) const {
    epoll_event event{};
    event.events = events;
    event.data.u64 = id_;
    return ::epoll_ctl(set_, operation, socket, &event) == 0;
  }

  int set_ = -1;
  std::uint64_t id_ = 0;
};

/// The thread of a server.
class EventLoop {
 public:
  virtual ~EventLoop() = default;
  /// A watch for one socket, whose events the handler hears of until it is forgotten.  On the server's thread, both.
  virtual Watch handle(std::shared_ptr<EventHandler> handler) = 0;
  virtual void forget(const Watch& watch) = 0;
  /// Has the taker look at the clock then, or before.  On the server's thread.
  virtual void set_timer(Clock::time_point time) = 0;
  /// Calls a function on the server's thread.  Returns whether it will.  threads  Any.
  virtual bool post(std::function<void()> body) = 0;
};

/// What takes the connections of a server over, once both ends have proved that they know the key.  Its functions are
/// called on the server's thread, one at a time; they throw nothing and do not wait.
class ConnectionTaker {
 public:
  virtual ~ConnectionTaker() = default;
  virtual void take(base::Descriptor socket, bool near) = 0;
  /// Time has passed.  Returns when to call it again at the latest.
  virtual Clock::time_point on_timer(Clock::time_point now) = 0;
  /// The thread ends: nothing is called any more.
  virtual void end() = 0;
};

}  // namespace plait::transport::native
