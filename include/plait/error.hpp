/// Errors of the library.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace plait {

/// What kind of mistake an Error reports.
enum class ErrorKind : std::uint8_t {
  kArgument,  ///< the arguments of the call are wrong (Python: also a ValueError)
  kSystem,    ///< a file, a disk, the network or a peer failed (Python: also an OSError)
};

/// The one exception type of the library.  The message says what was found, what was expected and what to do; in a
/// collective call every rank throws the same message.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message, int system_code = 0)
      : std::runtime_error(message), kind_(kind), system_code_(system_code) {}

  ErrorKind kind() const noexcept { return kind_; }
  /// The errno of a kSystem error, 0 where there is none.
  int system_code() const noexcept { return system_code_; }

 private:
  ErrorKind kind_;
  int system_code_;
};

}  // namespace plait
