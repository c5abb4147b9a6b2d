// Conversion between the numbers in events and the words of text formats.

#include "trace/words.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"

namespace plait::trace {

namespace {

#define PLAIT_TRACE_WORD(name, enumerator, word) std::string_view(word),
#define PLAIT_TRACE_FLAG_WORD(name, constant, bits, word) \
  std::pair<std::uint16_t, std::string_view>(flag::constant, word),
#define PLAIT_TRACE_TYPE_WORD(name, constant, bits, word) std::string_view(word),
constexpr std::array kKindNames{PLAIT_TRACE_KINDS(PLAIT_TRACE_WORD)};
constexpr std::array kInterfaceNames{PLAIT_TRACE_INTERFACES(PLAIT_TRACE_WORD)};
constexpr std::array kFlags{PLAIT_TRACE_FLAGS(PLAIT_TRACE_FLAG_WORD)};
constexpr std::array kDataTypes{std::string_view(), PLAIT_TRACE_DATA_TYPES(PLAIT_TRACE_TYPE_WORD)};
#undef PLAIT_TRACE_WORD
#undef PLAIT_TRACE_FLAG_WORD
#undef PLAIT_TRACE_TYPE_WORD

bool equals_ignoring_case(std::string_view word, std::string_view other) {
  return std::equal(word.begin(), word.end(), other.begin(), other.end(),
                    [](char a, char b) { return a == b || (a >= 'A' && a <= 'Z' && a - 'A' + 'a' == b); });
}

template <std::size_t N>
std::optional<std::uint8_t> find_index(const std::array<std::string_view, N>& words, std::string_view word) {
  for (std::size_t i = 0; i < N; ++i)
    if (equals_ignoring_case(word, words[i])) return static_cast<std::uint8_t>(i);
  return std::nullopt;
}

}  // namespace

std::span<const std::string_view> kind_names() { return kKindNames; }

std::span<const std::string_view> interface_names() { return kInterfaceNames; }

std::string_view kind_word(Kind kind) {
  const auto number = static_cast<std::size_t>(kind);
  if (number < kKinds) return kKindNames[number];
  base::throw_argument_error("an event's kind is ", number, "; there are 0 to ", kKinds - 1);
}

std::optional<Kind> parse_kind(std::string_view word) {
  if (equals_ignoring_case(word, "r")) return Kind::kRead;
  if (equals_ignoring_case(word, "w")) return Kind::kWrite;
  if (const auto number = find_index(kKindNames, word)) return static_cast<Kind>(*number);
  return std::nullopt;
}

std::string_view interface_word(Interface interface) {
  const auto number = static_cast<std::size_t>(interface);
  if (number < kInterfaces) return kInterfaceNames[number];
  base::throw_argument_error("an event's interface is ", number, "; there are 0 to ", kInterfaces - 1);
}

std::optional<Interface> parse_interface(std::string_view word) {
  if (word.empty()) return Interface::kUnknown;
  if (const auto number = find_index(kInterfaceNames, word)) return static_cast<Interface>(*number);
  return std::nullopt;
}

void append_flags(std::string& text, std::uint16_t flags) {
  auto add = [&, first = true](std::string_view word) mutable {
    if (!first) text += '|';
    first = false;
    text += word;
  };
  unsigned remaining = flags;
  for (const auto& [bit, word] : kFlags) {
    if ((remaining & bit) == 0) continue;
    add(word);
    remaining &= ~static_cast<unsigned>(bit);
  }
  if (const unsigned type = remaining & flag::kDataType; type != 0) {
    add(kDataTypes[type]);
    remaining &= ~type;
  }
  if (remaining == 0) return;
  std::array<char, 8> digits{};
  const auto end = std::to_chars(digits.begin(), digits.end(), remaining, 16).ptr;
  add("0x" + std::string(digits.begin(), end));
}

std::optional<std::uint16_t> parse_flags(std::string_view words) {
  unsigned flags = 0;
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find('|'));
    words.remove_prefix(std::min(words.size(), word.size() + 1));
    const auto flag_word =
        std::find_if(kFlags.begin(), kFlags.end(), [&](const auto& entry) { return entry.second == word; });
    const auto type = std::find(kDataTypes.begin() + 1, kDataTypes.end(), word);
    if (flag_word != kFlags.end()) {
      flags |= flag_word->first;
    } else if (type != kDataTypes.end()) {
      flags |= static_cast<unsigned>(type - kDataTypes.begin());
    } else {
      const bool hexadecimal = word.starts_with("0x");
      const std::string_view digits = word.substr(hexadecimal ? 2 : 0);
      std::uint16_t number = 0;
      const auto parsed = std::from_chars(digits.begin(), digits.end(), number, hexadecimal ? 16 : 10);
      if (parsed.ec != std::errc() || parsed.ptr != digits.end()) return std::nullopt;
      flags |= number;
    }
  }
  return static_cast<std::uint16_t>(flags);
}

std::string count_text(std::int64_t count, std::string_view singular, std::string_view plural) {
  return base::text(count, ' ', count == 1 ? singular : plural);
}

void append_escaped(std::string& text, std::string_view raw, std::string_view also) {
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (const char letter : raw) {
    const auto code = static_cast<unsigned char>(letter);
    if (code >= 0x20 && code != 0x7f && letter != '%' && also.find(letter) == std::string_view::npos) {
      text += letter;
      continue;
    }
    text += '%';
    text += kDigits[code >> 4];
    text += kDigits[code & 15];
  }
}

std::string unescaped(std::string_view text) {
  std::string raw;
  raw.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, code, 16).ptr == text.data() + i + 3) {
      raw += static_cast<char>(code);
      i += 2;
    } else {
      raw += text[i];
    }
  }
  return raw;
}

std::optional<std::int64_t> to_number(std::string_view text) {
  std::int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> to_natural(std::string_view text, std::uint64_t maximum) {
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || number > maximum)
    return std::nullopt;
  return number;
}

}  // namespace plait::trace
