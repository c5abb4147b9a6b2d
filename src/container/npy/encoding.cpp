#include "container/npy/encoding.hpp"

#include <cstring>

namespace plait::container::npy {

namespace {

std::uint32_t to_byte(char c) { return static_cast<unsigned char>(c); }

/// Returns the number of bytes in the words of 8 bytes, at the beginning of a text, that are entirely ASCII.
std::size_t count_ascii_words(std::string_view text) {
  std::size_t at = 0;
  for (std::uint64_t word = 0; at + sizeof word <= text.size(); at += sizeof word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((word & 0x8080808080808080U) != 0) break;
  }
  return at;
}

}  // namespace

std::optional<std::uint32_t> take_code_point(std::string_view& text) {
  const std::uint32_t first = to_byte(text[0]);
  // Number of bytes of the character, by its first byte; 0 if no character begins with this byte.
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length == 0 || text.size() < length) return std::nullopt;
  std::uint32_t code = length == 1 ? first : first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((to_byte(text[i]) & 0xc0U) != 0x80U) return std::nullopt;
    code = code << 6 | (to_byte(text[i]) & 0x3fU);
  }
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  const bool is_overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  if (is_overlong || code > 0x10ffff || is_surrogate) return std::nullopt;
  text.remove_prefix(length);
  return code;
}

bool is_ascii(std::string_view text) {
  for (std::size_t at = count_ascii_words(text); at < text.size(); ++at)
    if ((to_byte(text[at]) & 0x80U) != 0) return false;
  return true;
}

std::string latin1_to_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) append_utf8(result, to_byte(c));
  return result;
}

std::optional<std::string> utf8_to_latin1(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::optional<std::uint32_t> code = take_code_point(text);
    if (!code || *code > 0xff) return std::nullopt;
    result += static_cast<char>(*code);
  }
  return result;
}

bool is_utf8(std::string_view text) {
  while (true) {
    text.remove_prefix(count_ascii_words(text));
    if (text.empty()) return true;
    if (!take_code_point(text)) return false;
  }
}

void append_utf8(std::string& text, std::uint32_t code) {
  // Returns a byte after the first one of a character, with the lowest 6 of some bits.
  const auto last = [](std::uint32_t bits) { return static_cast<char>(0x80U | (bits & 0x3fU)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += {static_cast<char>(0xc0U | code >> 6), last(code)};
  } else if (code < 0x10000) {
    text += {static_cast<char>(0xe0U | code >> 12), last(code >> 6), last(code)};
  } else {
    text += {static_cast<char>(0xf0U | code >> 18), last(code >> 12), last(code >> 6), last(code)};
  }
}

}  // namespace plait::container::npy
