#include "transport/native/interruption.hpp"

#include <atomic>
#include <cerrno>

#include "base/text.hpp"
#include "plait/error.hpp"

namespace plait::transport::native {

namespace {

std::atomic<Interruption> asked_one{nullptr};

}  // namespace

void set_interruption(Interruption asked) { asked_one = asked; }

bool interrupted() {
  const Interruption asked = asked_one;
  return asked != nullptr && asked();
}

void check_interrupted(const std::string& waiting_for) {
  if (interrupted())
    throw Error(ErrorKind::kSystem, base::text(waiting_for, ": a signal has ended the wait for the other end"), EINTR);
}

}  // namespace plait::transport::native
