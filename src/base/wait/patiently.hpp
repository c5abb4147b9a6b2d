/// What has to be done though memory is short.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <thread>

namespace plait::base {

/// Returns what `body` does, which is made again where it has no memory: it must change nothing before it throws
/// std::bad_alloc; other exceptions pass through.  `lacking` is called before that.  Ends the process where there is no
/// memory for a second, and says what for: then the launcher, or the others' liveness, tells the rest.
template <typename Body, typename Lacking>
decltype(auto) patiently(const char* what, Body&& body, Lacking&& lacking) {
  constexpr int kMostAttempts = 100;
  for (int attempt = 1;; ++attempt) {
    try {
      return body();
    } catch (const std::bad_alloc&) {
      lacking();
      if (attempt == kMostAttempts) {
        std::fprintf(stderr, "plait: not enough memory to %s\n", what);
        std::abort();
      }
      if (attempt > 1) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
}

/// The same where there is nothing to let go of.
template <typename Body>
decltype(auto) patiently(const char* what, Body&& body) {
  return patiently(what, body, [] {});
}

}  // namespace plait::base
