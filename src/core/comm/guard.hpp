/// The way into calls that all ranks make together.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "plait/comm.hpp"
#include "plait/error.hpp"

namespace plait::core {

/// The error of a call that a caller has found wrong before it made it: kSystem if there is a code of the system.
inline Error call_error(const std::string& message, int system_code) {
  return {system_code == 0 ? ErrorKind::kArgument : ErrorKind::kSystem, message, system_code};
}

/// Fails the call that the other ranks make, with an error of this rank.
[[noreturn]] void fail(const Comm& comm, const std::string& message, int system_code);

/// The same, after the calls that were started before.
[[noreturn]] void fail_in_turn(const Comm& comm, const std::string& message, int system_code);

/// Brings what went wrong on this rank, before or beside what it agrees on, to the agreement that the others are at.
/// errors  Always an Error, the same on all ranks.
[[noreturn]] void fail(const Comm& comm, const std::exception_ptr& error);

/// Runs a call that all ranks of `comm` make, in its turn or to start it.  Its body agrees on its Errors; what else it
/// throws, as for want of memory or of a thread, all ranks get as the same Error.
template <typename Body>
auto guarded(const Comm& comm, Body&& body) {
  try {
    return body();
  } catch (const Error&) {
    throw;
  } catch (...) {
    fail(comm, std::current_exception());
  }
}

}  // namespace plait::core
