#include "transport/shared_memory/process_exit.hpp"

#include <mutex>
#include <set>

#include "base/process.hpp"
#include "transport/ending.hpp"

namespace plait::transport::shared_memory {

namespace {

struct ExitState {
  std::mutex mutex;
  bool leaving = false;
  std::string why;
};

ExitState& exit_state() {
  static auto* const instance = new ExitState;
  return *instance;
}

/// Creates the state when the library is loaded, because a process that leaves may have no memory for it.
[[maybe_unused]] const ExitState& created_early = exit_state();

void explain_departure(DepartureRecord& departed) noexcept {
  const std::scoped_lock lock(exit_state().mutex);
  if (!exit_state().leaving) return set_reason(departed, {"has freed the communicator"});
  if (exit_state().why.empty()) return set_reason(departed, {"has left the program"});
  set_reason(departed, {"has left the program (", exit_state().why, ")"});
}

/// The registered objects of this process; a child process begins with none.
struct ExitListeners {
  std::mutex mutex;
  std::set<ExitListener*> all;
};

ExitListeners& exit_listeners() {
  static base::PerProcess<ExitListeners> instance;
  return instance.get();
}

void leave_all() {
  set_leaving({});
  const std::scoped_lock lock(exit_listeners().mutex);
  for (ExitListener* listener : exit_listeners().all) listener->leave();
}

}  // namespace

void set_leaving(const std::string& why) {
  const std::scoped_lock lock(exit_state().mutex);
  exit_state().leaving = true;
  if (exit_state().why.empty() && !why.empty()) exit_state().why = why;
}

bool is_leaving() {
  const std::scoped_lock lock(exit_state().mutex);
  return exit_state().leaving;
}

void record_departure(Departure& departure, int worker, std::int64_t calls) noexcept {
  DepartureRecord departed;
  departed.worker = worker;
  departed.calls = calls;
  explain_departure(departed);
  departure.record(departed);
}

ExitRegistration::ExitRegistration(ExitListener& listener) : listener_(listener) {
  const std::scoped_lock lock(exit_listeners().mutex);
  exit_listeners().all.insert(&listener);
}

ExitRegistration::~ExitRegistration() {
  const std::scoped_lock lock(exit_listeners().mutex);
  exit_listeners().all.erase(&listener_);
}

void leave_at_endings() {
  static base::PerProcess<std::once_flag> registered;
  std::call_once(registered.get(), [] {
    exit_listeners();  // created now: there may be no memory at the end
    at_ending(EndingStage::kLeave, leave_all);
  });
}

}  // namespace plait::transport::shared_memory
