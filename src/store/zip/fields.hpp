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
  explicit Fields(std::span<const std::byte> bytes) : rest_(bytes) {}
  std::size_t left() const { return rest_.size(); }
  template <typename Number>
  Number take() {
    std::uint64_t number = 0;
    const std::span<const std::byte> from = bytes(sizeof(Number));
    for (std::size_t i = 0; i < from.size(); ++i) number |= std::to_integer<std::uint64_t>(from[i]) << (8 * i);
    return static_cast<Number>(number);
  }
  std::span<const std::byte> bytes(std::size_t count) {
    const std::span<const std::byte> taken = rest_.first(std::min(count, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }
  void skip(std::size_t count) { (void)bytes(count); }

 private:
  std::span<const std::byte> rest_;
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
    const std::size_t at = bytes_.size();
    bytes_.resize(at + text.size());
    if (!text.empty()) std::memcpy(bytes_.data() + at, text.data(), text.size());
    return *this;
  }
  Writer& put(const std::vector<std::byte>& other) {
    bytes_.insert(bytes_.end(), other.begin(), other.end());
    return *this;
  }
  std::int64_t size() const { return static_cast<std::int64_t>(bytes_.size()); }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace plait::store::zip
