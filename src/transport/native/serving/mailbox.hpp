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
  /// Requests that the server's thread has not seen.
  struct Requests {
    std::vector<std::uint64_t> peers_to_flush;  ///< by their numbers
    bool flush_all = false;                     ///< flush all peers, because there was no memory for their numbers
    std::vector<std::function<void()>> functions;
  };

  /// errors  kSystem
  Mailbox();
  /// Returns the eventfd for which epoll waits.
  int number() const { return event_.number(); }
  /// Requests a flush of a peer.
  void request_flush(std::uint64_t peer);
  /// Requests a call of `function`.  Returns false if the server has ended, so that `function` will not be called.
  bool post(std::function<void()> function);
  /// Requests the end of the server's thread.
  void stop();
  bool is_stopping();
  /// Returns the requests since the last call.
  Requests take();
  /// Returns the remaining requests; further ones are rejected.
  Requests close();

 private:
  /// Sets the eventfd, unless it is set already.
  void wake();

  base::Descriptor event_;
  std::mutex mutex_;
  bool stopping_ = false;
  bool closed_ = false;
  bool is_woken_ = false;  // the eventfd is set and has not been read yet
  Requests requests_;
};

}  // namespace plait::transport::native
