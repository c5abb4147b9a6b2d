/// Requests of other threads to the thread of a server.
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
  /// The eventfd that epoll waits for.
  int number() const { return bell_.number(); }
  /// Requests a flush of a peer.
  void call(std::uint64_t peer);
  /// Returns false if the body will not be called, because the server has ended.
  bool post(std::function<void()> body);
  void stop();
  bool stopping();
  /// Returns the requests since the last call.
  Pending take();
  /// Returns the remaining requests, and accepts none after them.
  Pending close();

 private:
  void ring();

  base::Descriptor bell_;
  std::mutex mutex_;
  bool stopping_ = false;
  bool closed_ = false;
  bool rung_ = false;  // and not read yet
  Pending pending_;
};

}  // namespace plait::transport::native
