/// The way into calls that all ranks make together.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "plait/comm.hpp"
#include "plait/error.hpp"

namespace plait::core {

/// Brings an argument error of this rank to the agreement that the others are at, in its turn.
[[noreturn]] void refuse(const Comm& comm, const std::string& message);

/// Brings what went wrong on this rank, before or beside what it agrees on, to the agreement that the others are at.  A
/// process that is alone throws it.  errors  Always an Error.
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
