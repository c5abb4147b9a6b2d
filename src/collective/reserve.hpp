/// A reserve of memory for workers that must not stop in the middle of an exchange.
#pragma once

#include <cstddef>
#include <memory>

#include "base/wait/retry_allocation.hpp"
#include "collective/first_error.hpp"

namespace plait::collective {

/// Holds 64 KiB for a worker that cannot skip an operation, because other workers wait for its messages.  If the
/// operation lacks memory, the reserve is freed and the operation is repeated.  The error is recorded in a FirstError,
/// which the worker reports at the end of the exchange.
/// threads  One at a time.
class Reserve {
 public:
  Reserve() : memory_(new std::byte[kBytes]) {}

  /// Runs `body`, repeatedly if it lacks memory, and returns its result, as base::retry_allocation() does.
  template <typename Body>
  auto again(FirstError& error, Body&& body) {
    return base::retry_allocation("go on with an exchange that other ranks wait for", body, [&] {
      error.keep([] { throw; });
      memory_ = nullptr;
    });
  }

 private:
  static constexpr std::size_t kBytes = std::size_t{64} << 10;
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace plait::collective
