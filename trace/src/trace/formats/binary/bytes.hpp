/// Decoding of whole numbers and texts from bytes that may be damaged.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace plait::trace::binary {

/// Reads a number with seven bits per byte. Ten bytes must be readable. Returns nullptr if the number does not end
/// within them.
inline const unsigned char* get_varint(const unsigned char* cursor, std::uint64_t& value) {
  std::uint64_t byte = *cursor++;
  value = byte;
  if (byte < 0x80) return cursor;
  value &= 0x7f;
  for (int shift = 7; shift < 64; shift += 7) {
    byte = *cursor++;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return shift == 63 && byte > 1 ? nullptr : cursor;
  }
  return nullptr;
}

/// Reads a signed number, whose sign is in bit 0.
inline const unsigned char* get_signed(const unsigned char* cursor, std::uint64_t& value) {
  cursor = get_varint(cursor, value);
  value = (value >> 1) ^ (0 - (value & 1));
  return cursor;
}

/// The fields of a table record. Fields past the end read as 0, and is_valid() becomes false.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : bytes_(bytes) {}

  bool is_valid() const noexcept { return is_valid_; }
  bool empty() const noexcept { return bytes_.empty(); }

  std::uint64_t read_number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; !bytes_.empty() && shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    is_valid_ = false;
    return 0;
  }

  std::int64_t read_signed() {
    const std::uint64_t value = read_number();
    return static_cast<std::int64_t>((value >> 1) ^ (0 - (value & 1)));
  }

  std::uint32_t read_uint32() {
    const std::uint64_t value = read_number();
    if (value > UINT32_MAX) is_valid_ = false;
    return static_cast<std::uint32_t>(value);
  }

  std::string_view read_text() {
    const std::uint64_t length = read_number();
    if (length > bytes_.size()) {
      is_valid_ = false;
      return {};
    }
    const std::string_view bytes = bytes_.substr(0, length);
    bytes_.remove_prefix(length);
    return bytes;
  }

 private:
  std::string_view bytes_;
  bool is_valid_ = true;
};

}  // namespace plait::trace::binary
