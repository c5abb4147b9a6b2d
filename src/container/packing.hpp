/// What one rank tells the others, as bytes.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plait/error.hpp"
#include "plait/layout.hpp"

namespace plait::container {

/// Numbers in seven bits a byte, the lowest first; the top bit is set in all but the last.
class Packer {
 public:
  void number(std::uint64_t value) {
    for (; value >= 128; value >>= 7) bytes_ += static_cast<char>(value | 128);
    bytes_ += static_cast<char>(value);
  }
  void signed_number(std::int64_t value) {
    number((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
  }
  void bytes(const void* data, std::size_t count) {
    number(count);
    bytes_.append(static_cast<const char*>(data), count);
  }
  void text(std::string_view text) { bytes(text.data(), text.size()); }
  void extents(const Extents& extents) {
    number(extents.size());
    for (const std::int64_t extent : extents) signed_number(extent);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// errors  kSystem: bytes that no Packer has made.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= std::uint64_t{byte & 127U} << shift;
      if (byte < 128) return value;
    }
    damaged();
  }
  std::int64_t signed_number() {
    const std::uint64_t value = number();
    return static_cast<std::int64_t>((value >> 1) ^ (0 - (value & 1)));
  }
  std::string_view bytes() { return take(number()); }
  std::vector<std::byte> content() {
    const std::string_view found = bytes();
    const auto* begin = reinterpret_cast<const std::byte*>(found.data());
    return {begin, begin + found.size()};
  }
  std::size_t count() {
    const std::uint64_t value = number();
    if (value > bytes_.size()) damaged();
    return value;
  }
  Extents extents() {
    Extents result(count());
    for (std::int64_t& extent : result) extent = signed_number();
    return result;
  }
  [[noreturn]] static void damaged() {
    throw Error(ErrorKind::kSystem, "another rank sent a damaged description of an array", EIO);
  }

 private:
  std::string_view take(std::uint64_t count) {
    if (count > bytes_.size()) damaged();
    const std::string_view result = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return result;
  }
  std::string_view bytes_;
};

}  // namespace plait::container
