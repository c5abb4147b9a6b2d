/// Errors of the library.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace plait {

/// The kind of failure that an Error reports.
enum class ErrorKind : std::uint8_t {
  kArgument,  ///< the arguments of the call are wrong (Python: also a ValueError)
  kSystem,    ///< a file, a disk, the network or a peer failed (Python: also an OSError)
};

/// The only exception type of the library.  The message states what was found, what was expected and what to do.  In a
/// collective call every rank throws the same message.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message, int system_code = 0)
      : std::runtime_error(message), kind_(kind), system_code_(system_code) {}

  ErrorKind kind() const noexcept { return kind_; }
  /// Returns the errno of a kSystem error, or 0 if it has none.
  int system_code() const noexcept { return system_code_; }

 private:
  ErrorKind kind_;
  int system_code_;
};

}  // namespace plait
