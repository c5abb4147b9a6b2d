/// Notifies the other processes, when this one exits, that it takes part in no further calls.
#pragma once

#include <cstdint>
#include <string>

#include "transport/shared_memory/departure.hpp"

namespace plait::transport::shared_memory {

/// Makes later departure records say that this process has left the program, with the reason `why` unless it is empty
/// or an earlier call has set one.
/// threads  Any.
void set_leaving(const std::string& why);
/// Returns true if set_leaving() was called.
bool is_leaving();
/// Records that this process, the worker `worker` of a communicator, takes part in no agreements there after the first
/// `calls`: it has left the program (set_leaving), or else it has freed the communicator.  Allocates no memory.
void record_departure(Departure& departure, int worker, std::int64_t calls) noexcept;

/// An object that notifies others at the end of the program.
class ExitListener {
 public:
  /// Notifies the others that this process takes part in no further calls; it may be called several times.
  virtual void leave() noexcept = 0;

 protected:
  ~ExitListener() = default;
};

/// While this object exists, the end of the program calls leave() of `listener`.  Create it when `listener` is
/// complete, and destroy it before any part of `listener`: the program may end on another thread, and the destructor
/// waits until that thread has called leave().
class ExitRegistration {
 public:
  explicit ExitRegistration(ExitListener& listener);
  ~ExitRegistration();
  ExitRegistration(const ExitRegistration&) = delete;
  ExitRegistration& operator=(const ExitRegistration&) = delete;

 private:
  ExitListener& listener_;
};

/// Registers a callback of the stage kLeave that calls leave() of all objects that exist then.  Further calls have no
/// effect; a child of this process has to call it again.
void leave_at_endings();

}  // namespace plait::transport::shared_memory
