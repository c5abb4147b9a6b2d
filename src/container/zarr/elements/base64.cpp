// Base64: three bytes become four letters of 6 bits each. If the last group has fewer bytes, `=` stands for the letters
// without bits.
// Example: the bytes 1, 2 have the bits 000000 010000 001000, so that they become `AQI=`.

#include "container/zarr/elements/base64.hpp"

#include <algorithm>
#include <cstdint>

namespace plait::container::zarr {

namespace {

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string encode_base64(std::span<const std::byte> bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(bytes.size() - at, 3);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i)
      bits = bits << 8U | (i < count ? std::to_integer<std::uint32_t>(bytes[at + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i) out += i <= count ? kLetters[bits >> (18 - 6 * i) & 63U] : '=';
  }
  return out;
}

std::optional<std::vector<std::byte>> decode_base64(std::string_view letters) {
  if (letters.size() % 4 != 0) return std::nullopt;
  std::vector<std::byte> bytes;
  bytes.reserve(letters.size() / 4 * 3);
  for (std::size_t at = 0; at < letters.size(); at += 4) {
    const bool last = at + 4 == letters.size();
    const std::size_t blanks = last ? (letters[at + 3] == '=' ? (letters[at + 2] == '=' ? 2 : 1) : 0) : 0;
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t six = i < 4 - blanks ? kLetters.find(letters[at + i]) : 0;
      if (six == std::string_view::npos) return std::nullopt;
      bits = bits << 6U | static_cast<std::uint32_t>(six);
    }
    for (std::size_t i = 0; i < 3 - blanks; ++i) bytes.push_back(static_cast<std::byte>(bits >> (16 - 8 * i) & 255U));
  }
  return bytes;
}

}  // namespace plait::container::zarr
