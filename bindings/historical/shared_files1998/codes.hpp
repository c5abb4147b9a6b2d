/// What the functions of Shared Files return, and the texts behind it.
#pragma once

#include <exception>
#include <string>

namespace plait::ga {

/// The codes of Global Arrays: SF's own failure, and those of its elementary I/O.
enum Code : int {
  kOk = 0,
  kFailed = 1,
  kNoWrite = -1998,    ///< a write that was begun failed
  kNoRead = -1996,     ///< a read that was begun failed
  kNoRequest = -1994,  ///< no such request
  kReadOnly = -1993,   ///< a file open only to read
  kNoOpen = -1990,     ///< it cannot be opened
  kNoMemory = -1989,
  kUnsupported = -1988,
  kNoDelete = -1987,
  kTooLong = -1983,   ///< a name
  kNoNumber = -1981,  ///< not whole, below zero or too large
  kPastEnd = -1977,
  kNoSync = -1976,
  kUnknown = -1975,
};

/// Keeps the exception that is under way as this thread's last error with its code, which is that of its errno where
/// that says enough, kFailed where the caller is to blame, and else `otherwise`.
int record(Code otherwise) noexcept;

/// Runs the body of a function: no exception leaves it.
template <typename Body>
int guarded(Code otherwise, Body&& body) noexcept {
  try {
    body();
    return kOk;
  } catch (...) {
    return record(otherwise);
  }
}

/// The text of this thread's last error with the code, or of the code.
std::string text_of(int code);

}  // namespace plait::ga
