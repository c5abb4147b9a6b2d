#include "transport/ending.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

#include "base/process.hpp"

namespace plait::transport {

namespace {

struct Ending {
  EndingStage stage;
  std::function<void()> call;
  base::Owner owner = {};  // its children leave these things alone
};

struct Endings {
  std::mutex mutex;
  std::vector<Ending> list;
};

/// Never destroyed: MPI may end after static objects do.
Endings& endings() {
  static auto* const kept = new Endings;
  return *kept;
}

}  // namespace

void at_ending(EndingStage stage, std::function<void()> call) {
  const std::scoped_lock lock(endings().mutex);
  endings().list.push_back({stage, std::move(call)});
}

void run_endings() noexcept {
  std::vector<Ending> list;
  {
    const std::scoped_lock lock(endings().mutex);
    list = endings().list;
  }
  std::reverse(list.begin(), list.end());
  std::stable_sort(list.begin(), list.end(), [](const Ending& a, const Ending& b) { return a.stage < b.stage; });
  for (const Ending& one : list) {
    if (!one.owner.here()) continue;
    try {
      one.call();
    } catch (const std::exception&) {
      continue;  // the others are to run all the same
    }
  }
}

}  // namespace plait::transport
