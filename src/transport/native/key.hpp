/// What lets a process in: a random secret of a meeting.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace plait::transport::native {

/// 256 random bits.  Who has them may connect; each connection proves it, in both directions, without sending them.
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
