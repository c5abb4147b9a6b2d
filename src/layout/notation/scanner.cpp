#include "layout/notation/scanner.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <climits>

#include "base/errors.hpp"
#include "base/text.hpp"

namespace plait::layout {

namespace {

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_name_character(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

void Scanner::skip_blanks() {
  while (!at_end() && is_space(text_[position_])) ++position_;
}

char Scanner::peek() {
  skip_blanks();
  return at_end() ? '\0' : text_[position_];
}

bool Scanner::accept(std::string_view token) {
  skip_blanks();
  if (text_.substr(position_, token.size()) != token) return false;
  position_ += token.size();
  return true;
}

void Scanner::expect(std::string_view token, std::string_view what) {
  if (!accept(token)) fail(position_, what);
}

void Scanner::fail(std::size_t position, std::string_view expected) const {
  std::string found = "the end of the text";
  if (position < text_.size()) {
    std::size_t end = position;
    // Bytes from 0x80 on are parts of multi-byte UTF-8 characters, which must not be cut.
    while (end < text_.size() && (is_word_character(text_[end]) || static_cast<unsigned char>(text_[end]) >= 0x80))
      ++end;
    found = base::text('"', text_.substr(position, std::max<std::size_t>(end - position, 1)), '"');
  }
  base::throw_argument_error(what_, " \"", text_, "\", position ", position + 1, ": found ", found, ", expected ",
                             expected);
}

std::string Scanner::read_word() {
  skip_blanks();
  std::string result;
  while (!at_end() && is_name_character(text_[position_]))
    result += static_cast<char>(std::tolower(static_cast<unsigned char>(text_[position_++])));
  return result;
}

std::int64_t Scanner::read_integer(std::string_view what) {
  skip_blanks();
  std::int64_t value = 0;
  const char* first = text_.data() + position_;
  const auto [last, error] = std::from_chars(first, text_.data() + text_.size(), value);
  if (error == std::errc::result_out_of_range) fail(position_, "a number below 2^63");
  if (error != std::errc()) fail(position_, what);
  position_ += static_cast<std::size_t>(last - first);
  return value;
}

int Scanner::read_small_integer(std::string_view what) {
  skip_blanks();
  const std::size_t start = position_;
  const std::int64_t value = read_integer(what);
  if (value < INT_MIN || value > INT_MAX) fail(start, what);
  return static_cast<int>(value);
}

}  // namespace plait::layout
