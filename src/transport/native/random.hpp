/// Bytes that nobody can guess.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace plait::transport::native {

/// errors  kSystem: the system gives no random bytes.
void fill_random(std::span<std::byte> bytes);
/// Two digits a byte.
std::string hexadecimal(std::span<const std::byte> bytes);

}  // namespace plait::transport::native
