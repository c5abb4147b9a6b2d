/// Decoding of whole numbers and texts from bytes that may be damaged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace plait::trace::binary {

/// Reads a number with seven bits per byte. Ten bytes must be readable. Returns nullptr if the number does not end
/// within them.
inline const unsigned char* get_varint(const unsigned char* at, std::uint64_t& value) {
  std::uint64_t byte = *at++;
  value = byte;
  if (byte < 0x80) return at;
  value &= 0x7f;
  for (int shift = 7; shift < 64; shift += 7) {
    byte = *at++;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return shift == 63 && byte > 1 ? nullptr : at;
  }
  return nullptr;
}

/// Reads a signed number, whose sign is in bit 0.
inline const unsigned char* get_signed(const unsigned char* at, std::uint64_t& value) {
  at = get_varint(at, value);
  value = (value >> 1) ^ (0 - (value & 1));
  return at;
}

/// The fields of a table record. Fields past the end read as 0, and good() becomes false.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : bytes_(bytes) {}

  bool good() const noexcept { return good_; }
  bool empty() const noexcept { return bytes_.empty(); }

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; !bytes_.empty() && shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    good_ = false;
    return 0;
  }

  std::int64_t signed_number() {
    const std::uint64_t value = number();
    return static_cast<std::int64_t>((value >> 1) ^ (0 - (value & 1)));
  }

  std::uint32_t small() {
    const std::uint64_t value = number();
    if (value > UINT32_MAX) good_ = false;
    return static_cast<std::uint32_t>(value);
  }

  std::string_view text() {
    const std::uint64_t length = number();
    if (length > bytes_.size()) {
      good_ = false;
      return {};
    }
    const std::string_view bytes = bytes_.substr(0, length);
    bytes_.remove_prefix(length);
    return bytes;
  }

 private:
  std::string_view bytes_;
  bool good_ = true;
};

}  // namespace plait::trace::binary
