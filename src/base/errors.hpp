/// Functions that throw an Error whose message consists of several parts, and reasons for such errors.
#pragma once

#include <string>
#include <utility>

#include "base/text.hpp"
#include "plait/error.hpp"

namespace plait::base {

/// Throws an error about wrong arguments of a call. The parts are those of text().
/// errors  kArgument, always.
template <typename... Parts>
[[noreturn]] void throw_argument_error(const Parts&... parts) {
  throw Error(ErrorKind::kArgument, text(parts...));
}

/// Throws an error about the failure of a file, a disk, the network or a peer; `code` is an errno, or 0 if there is
/// none. The message consists of the parts alone.
/// errors  kSystem, always.
template <typename... Parts>
[[noreturn]] void throw_system_error(int code, const Parts&... parts) {
  throw Error(ErrorKind::kSystem, text(parts...), code);
}

/// Throws an error of the same kind and system code with another message, that of the parts.  errors  Always.
template <typename... Parts>
[[noreturn]] void rethrow(const Error& error, const Parts&... parts) {
  throw Error(error.kind(), text(parts...), error.system_code());
}

/// States why something cannot be done; a default-constructed Rejection says that it can.  Example:
///
///   Rejection check(const Entry& entry) {
///     if (entry.encrypted()) return Rejection::because("it is encrypted; write it without a password");
///     return {};
///   }
///   if (const Rejection rejection = check(entry)) rejection.raise(file, ": ");
class [[nodiscard]] Rejection {
 public:
  Rejection() = default;
  /// Rejects for a reason, a clause that completes an error, or allows if the reason is empty.
  explicit Rejection(std::string reason) : reason_(std::move(reason)) {}
  /// Rejects for the reason that text() makes of the parts.
  template <typename... Parts>
  static Rejection because(const Parts&... parts) {
    return Rejection(text(parts...));
  }

  /// True if it rejects.
  explicit operator bool() const { return !reason_.empty(); }
  /// The reason; empty if it does not reject.
  const std::string& reason() const { return reason_; }
  /// Throws the reason after a prefix, of whose parts text() makes one.  errors  kArgument, always.
  template <typename... Parts>
  [[noreturn]] void raise(const Parts&... prefix) const {
    throw_argument_error(prefix..., reason_);
  }

 private:
  std::string reason_;
};

}  // namespace plait::base
