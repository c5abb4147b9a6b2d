/// Passes requests of other threads to the thread of a server.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "base/descriptor.hpp"

namespace plait::transport::native {

/// threads  Any, except for take() and close(), which the server's thread calls.
class Mailbox {
 public:
  struct Pending {
    std::vector<std::uint64_t> calls;
    bool all = false;  ///< all peers need a flush, because there was no memory for their numbers
    std::vector<std::function<void()>> bodies;
  };

  /// errors  kSystem
  Mailbox();
  /// Returns the eventfd for which epoll waits.
  int number() const { return event_.number(); }
  /// Requests a flush of a peer.
  void call(std::uint64_t peer);
  /// Requests a call of `body`.  Returns false if the server has ended, so that it will not be called.
  bool post(std::function<void()> body);
  void stop();
  bool stopping();
  /// Returns the requests since the last call.
  Pending take();
  /// Returns the remaining requests; further ones are rejected.
  Pending close();

 private:
  /// Sets the eventfd, unless it is set already.
  void wake();

  base::Descriptor event_;
  std::mutex mutex_;
  bool stopping_ = false;
  bool closed_ = false;
  bool woken_ = false;  // the eventfd is set and has not been read yet
  Pending pending_;
};

}  // namespace plait::transport::native
