/// Retries work that must be done even if memory is short.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <thread>

namespace plait::base {

/// Returns the result of `body`, which is called again if it throws std::bad_alloc. It must change nothing before it
/// throws that; other exceptions pass through. `lacking`, which may release memory, is called before each further
/// attempt. If memory is still lacking after about a second, ends the process with the message "not enough memory to
/// `what`". The launcher, or the liveness check of other processes, then reports the end of this process.
template <typename Body, typename Lacking>
decltype(auto) retry_allocation(const char* what, Body&& body, Lacking&& lacking) {
  constexpr int kMaxAttempts = 100;
  for (int attempt = 1;; ++attempt) {
    try {
      return body();
    } catch (const std::bad_alloc&) {
      lacking();
      if (attempt == kMaxAttempts) {
        std::fprintf(stderr, "plait: not enough memory to %s\n", what);
        std::abort();
      }
      if (attempt > 1) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
}

/// Retries without releasing anything in between.
template <typename Body>
decltype(auto) retry_allocation(const char* what, Body&& body) {
  return retry_allocation(what, body, [] {});
}

}  // namespace plait::base
