/// Memory that is held back for the middle of an exchange.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <thread>
#include <utility>

#include "collective/first_error.hpp"

namespace plait::collective {

/// For a worker that cannot leave a step out, as others wait for its messages.  Where memory fails it in that step,
/// what was held back is let go and the step is made again; the error is kept, and told where the exchange ends.
/// threads  One at a time.
class Reserve {
 public:
  Reserve() : held_(new std::byte[kBytes]) {}

  /// Returns what `body` does.  It must change nothing before it throws std::bad_alloc; other exceptions pass through.
  /// Ends the process where there is no memory for a second: then the launcher, or the others' liveness, tells the
  /// rest.
  template <typename Body>
  auto again(FirstError& error, Body&& body) {
    for (int attempt = 1;; ++attempt) {
      try {
        return body();
      } catch (const std::bad_alloc&) {
        error.keep([] { throw; });
        held_ = nullptr;
        if (attempt == kMostAttempts) {
          std::fputs("plait: there is no memory to go on with an exchange that other ranks wait for\n", stderr);
          std::abort();
        }
        if (attempt > 1) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    }
  }

 private:
  static constexpr std::size_t kBytes = std::size_t{64} << 10;
  static constexpr int kMostAttempts = 100;
  std::unique_ptr<std::byte[]> held_;
};

}  // namespace plait::collective
