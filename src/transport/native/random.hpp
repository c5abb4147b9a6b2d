/// Random bytes for secrets.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace plait::transport::native {

/// Fills memory with bytes that are unpredictable (cryptographically secure).
/// errors  kSystem: the system gives no random bytes.
void fill_random(std::span<std::byte> bytes);
/// Formats bytes with two hexadecimal digits each.
std::string hexadecimal(std::span<const std::byte> bytes);

}  // namespace plait::transport::native
