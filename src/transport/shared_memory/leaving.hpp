/// How this process tells the others that it takes part in nothing any more.
#pragma once

#include <cstdint>
#include <string>

#include "transport/shared_memory/departure.hpp"

namespace plait::transport::shared_memory {

/// What can be told of it from now on, in words that follow "rank N": that it has left the program, and why, where
/// that is known.
/// threads  Any.
void set_leaving(const std::string& why);
bool is_leaving();
/// Records that this process, which is `worker` of a communicator, takes part in no further agreement there than the
/// first `calls`: that it has left the program, or else that it has freed the communicator.  Needs no memory.
void record_departure(Departure& departure, int worker, std::int64_t calls) noexcept;

/// What tells others at the end of the program.
class Leaver {
 public:
  /// Tells the others that this process takes part in nothing any more; what was told before may be told again.
  virtual void leave() noexcept = 0;

 protected:
  ~Leaver() = default;
};

/// While this exists, the end of the program has `one` leave.  Made when `one` is whole, and gone before anything of
/// `one` goes: the end may come on another thread in between, and whoever lets go waits for it.
class LeavesAtEnd {
 public:
  explicit LeavesAtEnd(Leaver& one);
  ~LeavesAtEnd();
  LeavesAtEnd(const LeavesAtEnd&) = delete;
  LeavesAtEnd& operator=(const LeavesAtEnd&) = delete;

 private:
  Leaver& one_;
};

/// Has the endings of this process, in their stage kLeave, let all leave that exist then.  Once, however often it is
/// called; a child of this process has to call it anew.
void leave_at_endings();

}  // namespace plait::transport::shared_memory
