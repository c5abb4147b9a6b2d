/// The way into calls that all ranks make together.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "plait/comm.hpp"
#include "plait/error.hpp"

namespace plait::core {

/// What a caller has found wrong before a call: with a code of the system the fault is not the arguments'.
inline Error refusal(const std::string& message, int system_code) {
  return {system_code == 0 ? ErrorKind::kArgument : ErrorKind::kSystem, message, system_code};
}

/// Brings a refusal of this rank to the agreement that the others are at, in its turn.
[[noreturn]] void refuse(const Comm& comm, const std::string& message, int system_code);

/// Takes its turn behind what was started before, and brings a refusal along.
[[noreturn]] void refuse_in_turn(const Comm& comm, const std::string& message, int system_code);

/// Brings what went wrong on this rank, before or beside what it agrees on, to the agreement that the others are at.
/// errors  Always an Error, the same on all ranks.
[[noreturn]] void refuse(const Comm& comm, const std::exception_ptr& error);

/// Runs a call that all ranks of `comm` make, in its turn or to start it.  Its body agrees on its Errors; what else it
/// throws, as for want of memory or of a thread, all ranks get as the same Error.
template <typename Body>
auto guarded(const Comm& comm, Body&& body) {
  try {
    return body();
  } catch (const Error&) {
    throw;
  } catch (...) {
    refuse(comm, std::current_exception());
  }
}

}  // namespace plait::core
