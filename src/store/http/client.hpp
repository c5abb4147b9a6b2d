/// The HTTP client of a process: one thread, many connections.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <span>

#include "store/http/request.hpp"

namespace plait::store::http {

/// Collects completed calls until the thread that has submitted them takes them by wait().
class Completions {
 public:
  /// Waits for the next complete call.
  Call& wait();
  void add(Call& call);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Call*> calls_;
};

/// Submits a request to the client's thread and returns at once. `completions` gets the call when it is complete. Both
/// arguments must exist until Completions::wait() has returned the call.
/// A request is repeated after transient failures: lost connections, truncated bodies, and the statuses 408, 429,
/// 500, 502, 503 and 504, and 409 if Request::repeats_conflicts is set. AWS_MAX_ATTEMPTS is the maximum number of
/// attempts, 8 by default. PLAIT_HTTP_TIMEOUT is the number of seconds without a byte after which a connection counts
/// as lost, 30 by default.
/// errors  kSystem: there is no libcurl. kArgument: those of max_in_flight().
/// threads  Any.
void submit(Call& call, Completions& completions);

/// Sends a request and waits for its result.  errors  Those of submit().
void perform(Call& call);
/// Sends requests, many of them at once, and waits for all results.  errors  Those of submit().
void perform_all(std::span<Call> calls);

}  // namespace plait::store::http
