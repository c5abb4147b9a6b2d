/// The handles of the Fortran module: numbers of objects instead of pointers.
///
/// Problem: Fortran copies a handle by assignment, so a copy may outlive the object. A copied pointer would then be
/// invalid.
///
/// Idea: a handle is a number in a table, and numbers are never reused.
/// Example: plait_open makes file 7. `b = a` copies the number. plait_close(a) removes 7 from the table and sets a to
/// null. plait_read(b) then finds no object 7, and returns an error instead of using freed memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "handle.hpp"

namespace plait::fortran {

/// A number in the form that `type(c_ptr)` accepts; null represents no object.
using Ticket = void*;

/// The objects of one type by their numbers, which are the Tickets.  threads  One at a time.
template <typename Type>
class Table {
 public:
  /// Returns the table of the program, which is never destroyed.
  static Table& instance() {
    static auto* const table = new Table;
    return *table;
  }

  /// Reserves capacity for one more object, so that add() cannot fail.
  void reserve() {
    if (entries_.size() == entries_.capacity()) entries_.reserve(2 * entries_.size() + 8);
  }
  /// Returns the number of an added object, or null if there is none.
  Ticket add(Type* object) {
    if (object == nullptr) return nullptr;
    entries_.push_back({++last_, object});
    return reinterpret_cast<Ticket>(last_);
  }
  /// Returns the object of a number, or null.
  Type* find(Ticket ticket) const {
    const auto entry = find_entry(ticket);
    return entry == entries_.end() ? nullptr : entry->second;
  }
  void remove(Ticket ticket) {
    const auto entry = find_entry(ticket);
    if (entry != entries_.end()) entries_.erase(entry);
  }
  /// Removes and returns all objects.
  std::vector<std::pair<std::uintptr_t, Type*>> take_all() { return std::exchange(entries_, {}); }

 private:
  auto find_entry(Ticket ticket) const {
    const auto number = reinterpret_cast<std::uintptr_t>(ticket);
    const auto position =
        std::lower_bound(entries_.begin(), entries_.end(), number,
                         [](const auto& entry, std::uintptr_t sought) { return entry.first < sought; });
    return position != entries_.end() && position->first == number ? position : entries_.end();
  }

  std::uintptr_t last_ = 0;
  std::vector<std::pair<std::uintptr_t, Type*>> entries_;  // in ascending order of the numbers
};

template <typename Type>
Type* find(Ticket ticket) {
  return Table<Type>::instance().find(ticket);
}

/// Makes an object with `make(Type**)`, which returns a status, and stores its number at `ticket`.
template <typename Type, typename Make>
plait_status make_handle(Ticket* ticket, Make&& make) {
  *ticket = nullptr;
  Type* object = nullptr;
  const plait_status status = make(&object);
  if (object != nullptr) *ticket = Table<Type>::instance().add(object);
  return status;
}

/// Releases an object with `end(Type**)`. A handle whose object has been released through a copy is an error, and is
/// set to null.
template <typename Type, typename End>
plait_status release_handle(Ticket* ticket, const char* what, End&& end) {
  Type* object = find<Type>(*ticket);
  if (*ticket != nullptr && object == nullptr) {
    *ticket = nullptr;
    return c::guarded(nullptr,
                      [&] { base::throw_argument_error(what, " was ended already, through a copy of the handle"); });
  }
  const plait_status status = end(&object);
  if (object == nullptr) Table<Type>::instance().remove(std::exchange(*ticket, nullptr));
  return status;
}

/// Registers a callback for the end of MPI or of the program, which warns about files that are still open, and abandons
/// them.
void abandon_open_files_at_end();

}  // namespace plait::fortran
