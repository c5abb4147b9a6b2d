#include "requests.hpp"

#include <limits>
#include <map>
#include <mutex>
#include <utility>

namespace plait::ga {

namespace {

struct Table {
  std::mutex mutex;
  std::map<int, Pending> pending;
  int next = 0;
};

Table& table() {
  static auto* const instance = new Table;
  return *instance;
}

}  // namespace

int keep(Pending pending) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  for (;;) {
    const int id = all.next;
    all.next = id == std::numeric_limits<int>::max() ? 0 : id + 1;
    if (all.pending.emplace(id, pending).second) return id;
  }
}

std::optional<Pending> take(std::int64_t id) {
  Table& all = table();
  if (id < 0 || id > std::numeric_limits<int>::max()) return std::nullopt;
  const std::lock_guard lock(all.mutex);
  const auto entry = all.pending.find(static_cast<int>(id));
  if (entry == all.pending.end()) return std::nullopt;
  Pending pending = std::move(entry->second);
  all.pending.erase(entry);
  return pending;
}

}  // namespace plait::ga
