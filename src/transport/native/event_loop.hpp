/// The interface between connections and the server's thread, which they share.
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
  /// Handles events of the socket, as epoll reports them.  Called on the server's thread; must not throw or block.
  virtual void on_event(std::uint32_t events) = 0;
};

/// Registers a socket in an epoll set, under a number that epoll returns with events.
/// threads  Any.
class Watch {
 public:
  Watch() = default;
  Watch(int set, std::uint64_t id) : set_(set), id_(id) {}
  std::uint64_t id() const { return id_; }
  /// Adds the socket to the set.  Returns false, and sets errno, on failure.
  bool begin(int socket, std::uint32_t events) const { return control(EPOLL_CTL_ADD, socket, events); }
  /// Changes the events for which epoll waits.  Returns false, and sets errno, on failure.
  bool change(int socket, std::uint32_t events) const { return control(EPOLL_CTL_MOD, socket, events); }
  /// Removes the socket from the set; closing a socket also does that.
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
  /// Registers a handler until unregister() is called, and returns the Watch with which the caller then adds a socket.
  /// Both are called on the server's thread.
  virtual Watch register_handler(std::shared_ptr<EventHandler> handler) = 0;
  virtual void unregister(const Watch& watch) = 0;
  /// Arranges that on_timer() of the ConnectionTaker is called at `time` or earlier.  Called on the server's thread.
  virtual void set_timer(Clock::time_point time) = 0;
  /// Calls a function on the server's thread.  Returns false if the thread has ended.  threads  Any.
  virtual bool post(std::function<void()> body) = 0;
};

/// Takes over the connections of a server after their handshake.  Its functions are called on the server's thread, one
/// at a time; they must not throw or block.
class ConnectionTaker {
 public:
  virtual ~ConnectionTaker() = default;
  virtual void take(base::Descriptor socket, bool is_local) = 0;
  /// Handles deadlines that have passed.  Returns the next deadline, at which on_timer() is called again at the latest.
  virtual Clock::time_point on_timer(Clock::time_point now) = 0;
  /// Called when the thread ends; no other function is called after this one.
  virtual void end() = 0;
};

}  // namespace plait::transport::native
