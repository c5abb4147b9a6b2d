#include "store/npy/literal.hpp"

#include <cctype>
#include <charconv>

#include "base/text.hpp"
#include "plait/error.hpp"

namespace plait::store::npy {

namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Literal whole() {
    Literal result = value(0);
    skip();
    if (position_ != text_.size()) fail();
    return result;
  }

 private:
  void skip() {
    while (position_ < text_.size() && (std::isspace(static_cast<unsigned char>(text_[position_])) != 0)) ++position_;
  }
  char peek() {
    skip();
    return position_ < text_.size() ? text_[position_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++position_;
    return true;
  }
  [[noreturn]] void fail() const {
    throw Error(ErrorKind::kArgument, base::text("unexpected text at character ", position_ + 1));
  }

  Literal value(int depth) {
    if (depth > 16) fail();
    const char c = peek();
    const std::size_t start = position_;
    Literal result;
    if (c == '\'' || c == '"') {
      result.kind = Literal::Kind::kString;
      result.string = string();
    } else if (c == '(' || c == '[') {
      ++position_;
      result.kind = Literal::Kind::kSequence;
      const char end = c == '(' ? ')' : ']';
      while (!accept(end)) {
        result.items.push_back(value(depth + 1));
        if (!accept(',') && peek() != end) fail();
      }
    } else if (c == '{') {
      ++position_;
      result.kind = Literal::Kind::kDictionary;
      while (!accept('}')) {
        if (peek() != '\'' && peek() != '"') fail();
        std::string key = string();
        if (!accept(':')) fail();
        result.entries.emplace_back(std::move(key), value(depth + 1));
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
      if (position_ < text_.size() && text_[position_] == 'L') ++position_;  // as Python 2 printed long integers
    }
    result.text = text_.substr(start, position_ - start);
    return result;
  }

  std::string string() {
    const char quote = text_[position_++];
    std::string result;
    while (position_ < text_.size() && text_[position_] != quote) {
      if (text_[position_] == '\\') fail();
      result += text_[position_++];
    }
    if (position_ == text_.size()) fail();
    ++position_;
    return result;
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace

const Literal* Literal::find(std::string_view key) const {
  for (const auto& [name, entry] : entries)
    if (name == key) return &entry;
  return nullptr;
}

Literal parse_literal(std::string_view text) { return Parser(text).whole(); }

}  // namespace plait::store::npy
