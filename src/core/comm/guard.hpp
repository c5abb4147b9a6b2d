/// Errors on individual ranks in collective calls.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "plait/comm.hpp"
#include "plait/error.hpp"

namespace plait::core {

/// Returns an Error of kind kArgument if the system code is 0, and kSystem otherwise.
inline Error call_error(const std::string& message, int system_code) {
  return {system_code == 0 ? ErrorKind::kArgument : ErrorKind::kSystem, message, system_code};
}

/// Reports an error of this rank to the collective call that the other ranks make.
[[noreturn]] void fail(const Comm& comm, const std::string& message, int system_code);

/// Does the same after all calls that were started before, in their order.
[[noreturn]] void fail_in_turn(const Comm& comm, const std::string& message, int system_code);

/// Contributes an error of this rank, which occurred outside of an agreement, to the agreement that the others join
/// next.
/// errors  Always an Error, the same on all ranks.
[[noreturn]] void fail(const Comm& comm, const std::exception_ptr& error);

/// Runs or starts a collective call of `comm`.  The body makes its own Errors collective.  Any other exception, such as
/// a failure to allocate memory or to start a thread, becomes the same Error on all ranks.
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
