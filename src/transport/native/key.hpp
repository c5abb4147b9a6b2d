/// The secret that processes must know to connect to each other.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace plait::transport::native {

/// 256 random bits.  A process that has them may connect.  In the handshake both ends prove that they know the key,
/// without sending it.
class Key {
 public:
  static constexpr std::size_t kBytes = 32;

  /// errors  kSystem: the system gives no random bytes.
  static Key random();
  /// errors  kArgument: not 64 hexadecimal digits.
  static Key parse(std::string_view text);
  std::string text() const;
  const std::array<std::byte, kBytes>& bytes() const { return bytes_; }

 private:
  std::array<std::byte, kBytes> bytes_{};
};

}  // namespace plait::transport::native
