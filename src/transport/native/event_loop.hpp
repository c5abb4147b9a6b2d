/// The thread that all connections of a process share, as the connections see it.
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "base/descriptor.hpp"
#include "transport/native/frame.hpp"

namespace plait::transport::native {

/// Receives the events of one socket.
class EventHandler {
 public:
  virtual ~EventHandler() = default;
  /// events: as epoll reports them.  Called on the server's thread; throws nothing and does not block.
  virtual void on_event(std::uint32_t events) = 0;
};

/// The registration of a socket with an epoll set, under a number.
/// threads  Any.
class Watch {
 public:
  Watch() = default;
  Watch(int set, std::uint64_t id) : set_(set), id_(id) {}
  std::uint64_t id() const { return id_; }
  /// Adds the socket to the set, or changes its events.  Returns false if the kernel refuses.  A closed socket leaves
  /// the set by itself.
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
  /// Registers the handler of one socket, until forget().  Both are called on the server's thread.
  virtual Watch handle(std::shared_ptr<EventHandler> handler) = 0;
  virtual void forget(const Watch& watch) = 0;
  /// Calls on_timer() of the taker at `time` or earlier.  Called on the server's thread.
  virtual void set_timer(Clock::time_point time) = 0;
  /// Calls a function on the server's thread.  Returns false if the thread has ended.  threads  Any.
  virtual bool post(std::function<void()> body) = 0;
};

/// Takes the connections of a server over after the handshake.  Its functions are called on the server's thread, one at
/// a time; they throw nothing and do not block.
class ConnectionTaker {
 public:
  virtual ~ConnectionTaker() = default;
  virtual void take(base::Descriptor socket, bool near) = 0;
  /// Handles deadlines that are over.  Returns the time of the next call at the latest.
  virtual Clock::time_point on_timer(Clock::time_point now) = 0;
  /// The thread ends; no function is called after this one.
  virtual void end() = 0;
};

}  // namespace plait::transport::native
