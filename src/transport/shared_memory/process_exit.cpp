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

ExitState& own() {
  static auto* const instance = new ExitState;
  return *instance;
}

/// Created when the library is loaded, because a process that leaves may have no memory.
[[maybe_unused]] const ExitState& made_before = own();

void explain_departure(DepartureRecord& departed) noexcept {
  const std::scoped_lock lock(own().mutex);
  if (!own().leaving) return explain(departed, {"has freed the communicator"});
  if (own().why.empty()) return explain(departed, {"has left the program"});
  explain(departed, {"has left the program (", own().why, ")"});
}

/// The objects of this process, not of its parent.
struct ExitListeners {
  std::mutex mutex;
  std::set<ExitListener*> all;
};

ExitListeners& leavers() {
  static base::PerProcess<ExitListeners> instance;
  return instance.get();
}

void leave_all() {
  set_leaving({});
  const std::scoped_lock lock(leavers().mutex);
  for (ExitListener* one : leavers().all) one->leave();
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
  DepartureRecord departed;
  departed.worker = worker;
  departed.calls = calls;
  explain_departure(departed);
  departure.record(departed);
}

ExitRegistration::ExitRegistration(ExitListener& one) : one_(one) {
  const std::scoped_lock lock(leavers().mutex);
  leavers().all.insert(&one);
}

ExitRegistration::~ExitRegistration() {
  const std::scoped_lock lock(leavers().mutex);
  leavers().all.erase(&one_);
}

void leave_at_endings() {
  static base::PerProcess<std::once_flag> arranged;
  std::call_once(arranged.get(), [] {
    leavers();  // created now: there may be no memory at the end
    at_ending(EndingStage::kLeave, leave_all);
  });
}

}  // namespace plait::transport::shared_memory
