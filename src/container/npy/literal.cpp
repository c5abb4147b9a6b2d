#include "container/npy/literal.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/npy/encoding.hpp"

namespace plait::container::npy {

namespace {

/// A recursive-descent parser of one literal.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Literal parse() {
    Literal result = parse_value(0);
    skip_spaces();
    if (position_ != text_.size()) fail();
    return result;
  }

 private:
  void skip_spaces() {
    while (position_ < text_.size() && (std::isspace(static_cast<unsigned char>(text_[position_])) != 0)) ++position_;
  }
  char peek() {
    skip_spaces();
    return position_ < text_.size() ? text_[position_] : '\0';
  }
  /// Skips spaces, and the character c if it comes next. Returns true if it does.
  bool accept(char c) {
    if (peek() != c) return false;
    ++position_;
    return true;
  }
  [[noreturn]] void fail() const { base::throw_argument_error("unexpected text at character ", position_ + 1); }

  Literal parse_value(int depth) {
    if (depth > 16) fail();
    const char c = peek();
    const std::size_t start = position_;
    Literal result;
    if (c == '\'' || c == '"') {
      result.kind = Literal::Kind::kString;
      result.string = parse_string();
    } else if (c == '(' || c == '[') {
      ++position_;
      result.kind = Literal::Kind::kSequence;
      const char end = c == '(' ? ')' : ']';
      while (!accept(end)) {
        result.items.push_back(parse_value(depth + 1));
        if (!accept(',') && peek() != end) fail();
      }
    } else if (c == '{') {
      ++position_;
      result.kind = Literal::Kind::kDictionary;
      while (!accept('}')) {
        if (peek() != '\'' && peek() != '"') fail();
        std::string key = parse_string();
        if (!accept(':')) fail();
        result.entries.push_back({std::move(key), parse_value(depth + 1)});
        if (!accept(',') && peek() != '}') fail();
      }
    } else if (text_.substr(position_, 4) == "True" || text_.substr(position_, 5) == "False") {
      result.kind = Literal::Kind::kBool;
      result.integer = c == 'T' ? 1 : 0;
      position_ += c == 'T' ? 4 : 5;
    } else {
      const auto [end, error] = std::from_chars(text_.data() + position_, text_.data() + text_.size(), result.integer);
      if (error != std::errc()) fail();
      position_ = static_cast<std::size_t>(end - text_.data());
      if (position_ < text_.size() && text_[position_] == 'L') ++position_;  // the suffix of long integers in Python 2
    }
    result.text = text_.substr(start, position_ - start);
    return result;
  }

  std::string parse_string() {
    const char quote = text_[position_++];
    std::string result;
    while (position_ < text_.size() && text_[position_] != quote) {
      const char c = text_[position_++];
      if (c == '\\') {
        append_utf8(result, parse_escape());
      } else {
        result += c;
      }
    }
    if (position_ == text_.size()) fail();
    ++position_;
    return result;
  }

  /// Parses an escape sequence after its backslash, and returns the code of its character.
  std::uint32_t parse_escape() {
    if (position_ == text_.size()) fail();
    const char c = text_[position_++];
    switch (c) {
      case '\\':
      case '\'':
      case '"': return static_cast<unsigned char>(c);
      case 'a': return '\a';
      case 'b': return '\b';
      case 'f': return '\f';
      case 'n': return '\n';
      case 'r': return '\r';
      case 't': return '\t';
      case 'v': return '\v';
      case 'x': return parse_code(2);
      case 'u': return parse_code(4);
      case 'U': return parse_code(8);
      default: fail();
    }
  }

  /// Parses the code of a character in `count` hexadecimal digits.
  std::uint32_t parse_code(std::size_t count) {
    const std::string_view text = text_.substr(position_, count);
    std::uint32_t code = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code, 16);
    if (text.size() != count || error != std::errc() || end != text.data() + count || code > 0x10ffff) fail();
    position_ += count;
    return code;
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace

const Literal* Literal::find(std::string_view key) const {
  for (const LiteralEntry& entry : entries)
    if (entry.key == key) return &entry.value;
  return nullptr;
}

bool same_value(const Literal& left, const Literal& right) {
  const auto same_entry = [](const LiteralEntry& a, const LiteralEntry& b) {
    return a.key == b.key && same_value(a.value, b.value);
  };
  return left.kind == right.kind && left.string == right.string && left.integer == right.integer &&
         std::ranges::equal(left.items, right.items, same_value) &&
         std::ranges::equal(left.entries, right.entries, same_entry);
}

Literal parse_literal(std::string_view text) { return Parser(text).parse(); }

}  // namespace plait::container::npy
