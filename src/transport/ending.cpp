#include "transport/ending.hpp"

#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <utility>

#include "base/process.hpp"

namespace plait::transport {

namespace {

struct Ending {
  EndingStage stage;
  std::function<void()> call;
  base::Owner owner = {};  // child processes do not run these callbacks
};

struct Endings {
  std::mutex mutex;
  std::deque<Ending> list;  // a deque: its elements do not move when others are added
};

/// Never destroyed: MPI may end after the destruction of static objects.
Endings& endings() {
  static auto* const instance = new Endings;
  return *instance;
}

}  // namespace

void at_ending(EndingStage stage, std::function<void()> call) {
  const std::scoped_lock lock(endings().mutex);
  endings().list.push_back({stage, std::move(call)});
}

// Allocates no memory, because there may be none.  Does not hold the lock while it runs a callback, which may add
// others.
void run_endings() noexcept {
  const auto locked_element = [](std::size_t index) -> const Ending& {
    const std::scoped_lock lock(endings().mutex);
    return endings().list[index];
  };
  std::size_t count = 0;
  {
    const std::scoped_lock lock(endings().mutex);
    count = endings().list.size();
  }
  for (const EndingStage stage : kEndingStages)
    for (std::size_t index = count; index-- > 0;) {
      const Ending& ending = locked_element(index);
      if (ending.stage != stage || !ending.owner.here()) continue;
      try {
        ending.call();
      } catch (const std::exception&) {
        continue;  // the other callbacks must run all the same
      }
    }
}

}  // namespace plait::transport
