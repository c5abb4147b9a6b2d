/// Errors of single ranks in calls that all ranks make together.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "plait/comm.hpp"
#include "plait/error.hpp"

namespace plait::core {

/// Returns the error of a call whose arguments the caller has rejected: kSystem if it has a system code.
inline Error call_error(const std::string& message, int system_code) {
  return {system_code == 0 ? ErrorKind::kArgument : ErrorKind::kSystem, message, system_code};
}

/// Fails the call that the other ranks make, with an error of this rank.
[[noreturn]] void fail(const Comm& comm, const std::string& message, int system_code);

/// Fails the call that the other ranks make after all calls that were started before.
[[noreturn]] void fail_in_turn(const Comm& comm, const std::string& message, int system_code);

/// Contributes an error of this rank, which occurred outside of an agreement, to the agreement that the others join
/// next.
/// errors  Always an Error, the same on all ranks.
[[noreturn]] void fail(const Comm& comm, const std::exception_ptr& error);

/// Runs, or starts, a call that all ranks of `comm` make.  Its body agrees on its Errors.  Any other exception, such as
/// a lack of memory or of a thread, becomes the same Error on all ranks.
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
