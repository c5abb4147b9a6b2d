/// Memory that is held back for the middle of an exchange.
#pragma once

#include <cstddef>
#include <memory>

#include "base/wait/patiently.hpp"
#include "collective/first_error.hpp"

namespace plait::collective {

/// For a worker that cannot leave a step out, as others wait for its messages.  Where memory fails it in that step,
/// what was held back is let go and the step is made again; the error is kept, and told where the exchange ends.
/// threads  One at a time.
class Reserve {
 public:
  Reserve() : held_(new std::byte[kBytes]) {}

  /// Returns what `body` does, as base::patiently().
  template <typename Body>
  auto again(FirstError& error, Body&& body) {
    return base::patiently("go on with an exchange that other ranks wait for", body, [&] {
      error.keep([] { throw; });
      held_ = nullptr;
    });
  }

 private:
  static constexpr std::size_t kBytes = std::size_t{64} << 10;
  std::unique_ptr<std::byte[]> held_;
};

}  // namespace plait::collective
