/// Reads and writes consecutive little-endian numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace plait::store::zip {

/// Reads numbers from bytes. Bytes after the end read as zero, which matches no signature.
class Fields {
 public:
  explicit Fields(std::span<const std::byte> bytes) : remaining_(bytes) {}
  std::size_t remaining() const { return remaining_.size(); }
  /// Reads the next number.
  template <typename Number>
  Number take() {
    std::uint64_t number = 0;
    const std::span<const std::byte> digits = take_bytes(sizeof(Number));
    for (std::size_t i = 0; i < digits.size(); ++i) number |= std::to_integer<std::uint64_t>(digits[i]) << (8 * i);
    return static_cast<Number>(number);
  }
  /// Returns the next bytes, fewer than `count` at the end.
  std::span<const std::byte> take_bytes(std::size_t count) {
    const std::span<const std::byte> result = remaining_.first(std::min(count, remaining_.size()));
    remaining_ = remaining_.subspan(result.size());
    return result;
  }
  void skip(std::size_t count) { (void)take_bytes(count); }

 private:
  std::span<const std::byte> remaining_;
};

/// Writes numbers to bytes.
class Writer {
 public:
  template <typename Number>
    requires std::is_unsigned_v<Number>
  Writer& put(Number number) {
    for (std::size_t i = 0; i < sizeof(Number); ++i)
      bytes_.push_back(static_cast<std::byte>((static_cast<std::uint64_t>(number) >> (8 * i)) & 0xff));
    return *this;
  }
  Writer& put(const std::string& text) {
    const std::size_t begin = bytes_.size();
    bytes_.resize(begin + text.size());
    if (!text.empty()) std::memcpy(bytes_.data() + begin, text.data(), text.size());
    return *this;
  }
  Writer& put(const std::vector<std::byte>& other) {
    bytes_.insert(bytes_.end(), other.begin(), other.end());
    return *this;
  }
  std::int64_t size() const { return static_cast<std::int64_t>(bytes_.size()); }
  /// Returns all bytes, and leaves none.
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace plait::store::zip
