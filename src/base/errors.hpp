/// Functions that throw an Error whose message is composed of parts, and the reasons of such errors.
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

/// Throws an error of the same kind and system code with another message, which consists of the parts.  errors  Always.
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
  /// Rejects for a reason, which is a clause that completes an error. An empty reason rejects nothing.
  explicit Rejection(std::string reason) : reason_(std::move(reason)) {}
  /// Rejects for a reason that consists of the parts.
  template <typename... Parts>
  static Rejection because(const Parts&... parts) {
    return Rejection(text(parts...));
  }

  /// True if something is rejected.
  explicit operator bool() const { return !reason_.empty(); }
  /// Returns the reason; empty if nothing is rejected.
  const std::string& reason() const { return reason_; }
  /// Throws an error whose message is the prefix, which consists of the parts, followed by the reason.
  /// errors  kArgument, always.
  template <typename... Parts>
  [[noreturn]] void raise(const Parts&... prefix) const {
    throw_argument_error(prefix..., reason_);
  }

 private:
  std::string reason_;
};

}  // namespace plait::base
