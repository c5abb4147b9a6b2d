/// How other threads reach the thread of a server.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "base/descriptor.hpp"

namespace plait::transport::native {

/// threads  Any, but for take().
class Mailbox {
 public:
  struct Pending {
    std::vector<std::uint64_t> calls;
    bool all = false;  ///< all peers want to be looked after: there was no memory for their numbers
    std::vector<std::function<void()>> bodies;
  };

  /// errors  kSystem
  Mailbox();
  /// What epoll waits on.
  int number() const { return bell_.number(); }
  /// A peer wants to be looked after.
  void call(std::uint64_t peer);
  /// Whether the body will be called.
  bool post(std::function<void()> body);
  void stop();
  bool stopping();
  /// All that has come since the last call.  On the server's thread.
  Pending take();
  /// The same, and nothing is taken in any more.
  Pending close();

 private:
  void ring();

  base::Descriptor bell_;
  std::mutex mutex_;
  bool stopping_ = false;
  bool closed_ = false;
  bool rung_ = false;  // and not heard yet
  Pending pending_;
};

}  // namespace plait::transport::native
