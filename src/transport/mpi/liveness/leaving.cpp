#include "transport/mpi/liveness/leaving.hpp"

#include <mutex>

#include "base/text.hpp"

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

}  // namespace

void set_leaving(const std::string& why) {
  const std::scoped_lock lock(own().mutex);
  own().leaving = true;
  if (own().why.empty()) own().why = why;
}

bool is_leaving() {
  const std::scoped_lock lock(own().mutex);
  return own().leaving;
}

std::string what_became() {
  const std::scoped_lock lock(own().mutex);
  if (!own().leaving) return "has freed the communicator";
  return own().why.empty() ? "has left the program" : base::text("has left the program (", own().why, ')');
}

}  // namespace plait::transport::mpi
