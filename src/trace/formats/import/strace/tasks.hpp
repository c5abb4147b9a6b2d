/// The processes and descriptors of a trace, as its calls tell.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plait/trace.hpp"

namespace plait::trace::strace {

/// What one call of open made; several descriptors may share it.
struct Open {
  std::uint32_t number = 0;
  std::string name;
  std::int64_t position = -1;  ///< -1: not known, or there is none
  bool append = false;
  bool direct = false;   ///< past the page cache
  bool durable = false;  ///< a write ends when its bytes are on the device
};

struct Slot {
  std::shared_ptr<Open> open;
  bool close_on_exec = false;
};

/// Descriptors, shared by threads.
using Table = std::map<std::int64_t, Slot>;

struct Owner {
  std::uint32_t number = 0;
  std::string command;
  std::uint32_t parent = 0;
  bool told = false;              ///< whether the description names it
  bool young = false;             ///< it has events, and is not told of yet
  std::int64_t first = 0;         ///< start of its first event
  std::vector<File> waiting;      ///< to be told of behind it
  std::set<std::uint32_t> files;  ///< whether the description names them
};

/// One thread.
struct Task {
  std::uint32_t thread = 0;
  std::shared_ptr<Owner> owner;
  std::shared_ptr<Table> table;
};

class Tasks {
 public:
  explicit Tasks(Description& description) : description_(description) {}

  /// The thread of this number; made where it is new, as a child of the one that is in the middle of making one.
  Task& get(std::int64_t thread);
  /// A call that makes a thread or process has begun; its arguments tell which.
  void begin_child(std::int64_t parent, std::string_view text);
  /// It returned.
  void end_child(std::int64_t parent, std::int64_t child, std::string_view text);
  void exit(std::int64_t thread);
  /// Whether the last thread of its process.
  bool last_of_process(const Task& task) const;

  /// The open behind a descriptor; made up where no call was seen that made it. `shown`: its name by -y.
  Slot& descriptor(Task& task, std::int64_t number, std::string_view shown);
  /// A new one.
  std::shared_ptr<Open> make(std::string name, std::int64_t position);
  void set(Task& task, std::int64_t number, std::shared_ptr<Open> open, bool close_on_exec);
  void exec(Task& task);
  /// Sees to it that the description names the process, and the file where it is not null.  A child that has done
  /// nothing yet but prepare its exec is young: it is told of when its own command is known, or it moves data or ends.
  void tell(Task& task, const Open* open, const Event& event);
  /// The start of the first event of a process that is not told of yet; events from there on have to wait.
  std::int64_t earliest_young() const;
  /// Tells of all that are young.
  void tell_young();

 private:
  Task child_of(const Task& parent, std::int64_t thread, std::string_view text);

  void announce(Owner& owner);

  struct Young {
    std::shared_ptr<Owner> owner;
    std::int64_t since;  // of events_
  };

  Description& description_;
  std::deque<Young> young_;
  std::multiset<std::int64_t> young_starts_;
  std::int64_t events_ = 0;
  std::unordered_map<std::int64_t, Task> tasks_;
  std::map<std::int64_t, std::string> forking_;  // by parent: the arguments of the call
  std::set<std::uint32_t> used_;                 // numbers of processes
  std::uint32_t opens_ = 0;
};

}  // namespace plait::trace::strace
