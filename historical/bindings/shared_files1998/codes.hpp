/// The codes that the functions of Shared Files return, and their texts.
#pragma once

#include <exception>
#include <string>

namespace plait::ga {

/// The codes of Global Arrays: the failure of Shared Files itself, and those of its elementary I/O.
enum Code : int {
  kOk = 0,
  kFailed = 1,
  kNoWrite = -1998,    ///< an asynchronous write failed
  kNoRead = -1996,     ///< an asynchronous read failed
  kNoRequest = -1994,  ///< unknown request
  kReadOnly = -1993,   ///< the file is only open for reading
  kNoOpen = -1990,     ///< the file cannot be opened
  kNoMemory = -1989,
  kUnsupported = -1988,
  kNoDelete = -1987,
  kTooLong = -1983,   ///< the name is too long
  kNoNumber = -1981,  ///< not whole, below zero or too large
  kPastEnd = -1977,
  kNoSync = -1976,
  kUnknown = -1975,
};

/// Records the current exception as this thread's last error and returns its code: that of its errno if there is one,
/// kFailed if the caller passed wrong arguments, and `otherwise` in all other cases.
int record(Code otherwise) noexcept;

/// Runs the body of a function and converts exceptions to codes.
template <typename Body>
int guarded(Code otherwise, Body&& body) noexcept {
  try {
    body();
    return kOk;
  } catch (...) {
    return record(otherwise);
  }
}

/// Returns the text of this thread's last error with the code, or the text of the code.
std::string describe_code(int code);

}  // namespace plait::ga
