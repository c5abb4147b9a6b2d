#include "transport/mpi/liveness/leaving.hpp"

#include <mutex>

namespace plait::transport::mpi {

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

void tell_what_became(node::Departed& departed) noexcept {
  const std::scoped_lock lock(own().mutex);
  if (!own().leaving) return node::tell(departed, {"has freed the communicator"});
  if (own().why.empty()) return node::tell(departed, {"has left the program"});
  node::tell(departed, {"has left the program (", own().why, ")"});
}

}  // namespace plait::transport::mpi
