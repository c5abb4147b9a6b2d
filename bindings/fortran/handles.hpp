/// What the Fortran module holds instead of pointers: numbers of live things.
///
/// Fortran copies a handle by assignment, so one may outlive what it stands for.  Its number finds nothing then, and is
/// never given out again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "handle.hpp"

namespace plait::fortran {

/// A number in the form that `type(c_ptr)` takes; null stands for nothing.
using Ticket = void*;

/// The live things of one type.  One thread at a time.
template <typename Type>
class Table {
 public:
  /// The one of the program, which never ends.
  static Table& instance() {
    static auto* const table = new Table;
    return *table;
  }

  /// Room for one more, so that keep() cannot fail.
  void reserve() {
    if (entries_.size() == entries_.capacity()) entries_.reserve(2 * entries_.size() + 8);
  }
  Ticket keep(Type* thing) {
    if (thing == nullptr) return nullptr;
    entries_.push_back({++last_, thing});
    return reinterpret_cast<Ticket>(last_);
  }
  /// The thing, or null.
  Type* find(Ticket ticket) const {
    const auto found = entry_of(ticket);
    return found == entries_.end() ? nullptr : found->second;
  }
  void drop(Ticket ticket) {
    const auto found = entry_of(ticket);
    if (found != entries_.end()) entries_.erase(found);
  }
  /// All of them; none is left.
  std::vector<std::pair<std::uintptr_t, Type*>> take_all() { return std::exchange(entries_, {}); }

 private:
  auto entry_of(Ticket ticket) const {
    const auto number = reinterpret_cast<std::uintptr_t>(ticket);
    const auto found = std::lower_bound(entries_.begin(), entries_.end(), number,
                                        [](const auto& entry, std::uintptr_t sought) { return entry.first < sought; });
    return found != entries_.end() && found->first == number ? found : entries_.end();
  }

  std::uintptr_t last_ = 0;
  std::vector<std::pair<std::uintptr_t, Type*>> entries_;  // in ascending order of the numbers
};

template <typename Type>
Type* find(Ticket ticket) {
  return Table<Type>::instance().find(ticket);
}

/// Makes a thing with `make(Type**)`, which returns a status, and puts its number at `ticket`.
template <typename Type, typename Make>
plait_status keep(Ticket* ticket, Make&& make) {
  *ticket = nullptr;
  Type* thing = nullptr;
  const plait_status status = make(&thing);
  if (thing != nullptr) *ticket = Table<Type>::instance().keep(thing);
  return status;
}

/// Ends a thing with `end(Type**)`.  A handle whose thing has ended under another name is refused, and then empty.
template <typename Type, typename End>
plait_status finish(Ticket* ticket, const char* what, End&& end) {
  Type* thing = find<Type>(*ticket);
  if (*ticket != nullptr && thing == nullptr) {
    *ticket = nullptr;
    return c::guarded(nullptr,
                      [&] { base::throw_argument_error(what, " was ended already, through a copy of the handle"); });
  }
  const plait_status status = end(&thing);
  if (thing == nullptr) Table<Type>::instance().drop(std::exchange(*ticket, nullptr));
  return status;
}

/// From now on files that are still open when MPI or the program ends are named and given up.
void watch_the_end();

}  // namespace plait::fortran
