#include "transport/node/leaving.hpp"

#include <mutex>

namespace plait::transport::node {

namespace {

struct Leaving {
  std::mutex mutex;
  bool leaving = false;
  std::string why;
};

Leaving& own() {
  static auto* const kept = new Leaving;
  return *kept;
}

/// Made as the library is loaded: whoever leaves may have no memory.
[[maybe_unused]] const Leaving& made_before = own();

void tell_what_became(Departed& departed) noexcept {
  const std::scoped_lock lock(own().mutex);
  if (!own().leaving) return tell(departed, {"has freed the communicator"});
  if (own().why.empty()) return tell(departed, {"has left the program"});
  tell(departed, {"has left the program (", own().why, ")"});
}

}  // namespace

void set_leaving(const std::string& why) {
  const std::scoped_lock lock(own().mutex);
  own().leaving = true;
  if (own().why.empty() && !why.empty()) own().why = why;
}

bool is_leaving() {
  const std::scoped_lock lock(own().mutex);
  return own().leaving;
}

void record_departure(Departure& departure, int worker, std::int64_t calls) noexcept {
  Departed departed;
  departed.worker = worker;
  departed.calls = calls;
  tell_what_became(departed);
  departure.record(departed);
}

}  // namespace plait::transport::node
