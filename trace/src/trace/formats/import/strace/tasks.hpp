/// The processes and descriptors of a trace of strace, derived from its calls.
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

/// The result of one open; several descriptors may share it.
struct OpenResult {
  std::uint32_t number = 0;
  std::string name;
  std::int64_t position = -1;  ///< -1: unknown, or it has no position
  bool append = false;
  bool direct = false;   ///< bypasses the page cache
  bool durable = false;  ///< a write ends when its bytes are on the device
};

/// The entry of a descriptor.
struct Slot {
  std::shared_ptr<OpenResult> open;
  bool close_on_exec = false;
};

/// The descriptors of a process, which its threads share.
using Table = std::map<std::int64_t, Slot>;

/// A process, of which a Task is a thread. It is young until its own command is known: a shell forks a child, which
/// first has the command of the shell, and calls exec after a few other calls.
struct TracedProcess {
  std::uint32_t number = 0;
  std::string command;
  std::uint32_t parent = 0;
  bool is_reported = false;            ///< true if the description contains it
  bool is_young = false;               ///< true if it has events but is not in the description yet
  std::int64_t first_start = 0;        ///< start of its first event
  std::vector<File> unreported_files;  ///< files to add to the description after it
  std::set<std::uint32_t> files;       ///< files that the description contains
};

/// One thread.
struct Task {
  std::uint32_t thread = 0;
  std::shared_ptr<TracedProcess> process;
  std::shared_ptr<Table> table;
};

class Tasks {
 public:
  explicit Tasks(Description& description) : description_(description) {}

  /// Returns the thread with this number. A new one is the child of the thread that is making one.
  Task& get(std::int64_t thread);
  /// Begins a call that makes a thread or process; its arguments determine which.
  void begin_child(std::int64_t parent, std::string_view text);
  /// Ends a call that makes a thread or process.
  void end_child(std::int64_t parent, std::int64_t child, std::string_view text);
  void exit(std::int64_t thread);
  /// True if this is the last thread of its process.
  bool is_last_of_process(const Task& task) const;

  /// Returns the open file of a descriptor. A new one is made if no call opened it.
  /// shown  the name that -y prints after the descriptor; empty if the trace has none
  Slot& descriptor(Task& task, std::int64_t number, std::string_view shown);
  /// Makes a new open file.
  std::shared_ptr<OpenResult> make(std::string name, std::int64_t position);
  /// Makes a descriptor refer to an open file.
  void set(Task& task, std::int64_t number, std::shared_ptr<OpenResult> open, bool close_on_exec);
  /// Closes the descriptors that exec closes.
  void exec(Task& task);
  /// Adds the process of an event to the description, and the file if it is not null. A young process is added when its
  /// own command is known, or when it transfers data or ends.
  void report(Task& task, const OpenResult* open, const Event& event);
  /// Returns the start of the first event of all young processes. Later events wait, because the description must
  /// contain a process before its events are returned.
  std::int64_t earliest_young() const;
  /// Adds all young processes to the description.
  void report_young();

 private:
  Task make_child(const Task& parent, std::int64_t thread, std::string_view text);

  void add_to_description(TracedProcess& process);

  struct YoungProcess {
    std::shared_ptr<TracedProcess> process;
    std::int64_t first_event;  // number of its first event
  };

  Description& description_;
  std::deque<YoungProcess> young_;
  std::multiset<std::int64_t> young_starts_;
  std::int64_t events_ = 0;
  std::unordered_map<std::int64_t, Task> tasks_;
  std::map<std::int64_t, std::string> forking_;  // arguments of the call, for each parent
  std::set<std::uint32_t> used_numbers_;         // used numbers of processes
  std::uint32_t open_count_ = 0;
};

}  // namespace plait::trace::strace
