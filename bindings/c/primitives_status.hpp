/// From exceptions to statuses, for the faces of the primitives.
#pragma once

#include <string>

namespace plait::primitives {

/// The status of the exception in flight, whose text becomes that of plait_message(NULL).
int status_of_exception();

/// The text of the last error.
const std::string& last_message();

/// Runs `body`; 0, or the status of what it throws.
template <typename Body>
int guarded(Body&& body) {
  try {
    body();
    return 0;
  } catch (...) {
    return status_of_exception();
  }
}

}  // namespace plait::primitives
