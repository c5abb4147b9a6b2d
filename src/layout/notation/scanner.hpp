/// Reads words, numbers and lists from a text. Its errors state the position, the text found there and what was
/// expected.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plait::layout {

/// A position in a text, from which the functions read on.
class Scanner {
 public:
  /// what: the name of the text in errors, such as `layout`.
  Scanner(std::string_view text, std::string_view what) : text_(text), what_(what) {}

  /// Skips blanks.
  void skip_blanks();
  /// Returns true if nothing is left, not even blanks.
  bool at_end() const { return position_ >= text_.size(); }
  std::size_t position() const { return position_; }
  void rewind_to(std::size_t position) { position_ = position; }
  /// Skips blanks and returns the next character without consuming it, or '\0' at the end.
  char peek();

  /// Skips blanks. If `token` follows, consumes it and returns true.
  bool accept(std::string_view token);
  /// Skips blanks and consumes `token`.
  /// errors  kArgument: the text, the position in it (from 1), what was found there and what was expected.
  void expect(std::string_view token, std::string_view what);
  [[noreturn]] void fail(std::size_t position, std::string_view expected) const;

  /// Reads letters and underscores, in lower case; empty if there are none.
  std::string read_word();
  /// Skips blanks and reads a number. what: what was expected, for errors.
  /// errors  kArgument: not a number, or a number of 2^63 or more.
  std::int64_t read_integer(std::string_view what);
  int read_small_integer(std::string_view what);

  /// Reads a list such as `(a, b)`, whose entries `read()` reads; an empty list is `()`.
  template <typename Read>
  void read_list(std::string_view what, Read&& read) {
    expect("(", "'(' before " + std::string(what));
    read_list_rest(what, std::forward<Read>(read));
  }
  /// Reads the rest of a list after its opening parenthesis.
  template <typename Read>
  void read_list_rest(std::string_view what, Read&& read) {
    if (accept(")")) return;
    do {
      read();
    } while (accept(","));
    expect(")", "',' or ')' after " + std::string(what));
  }

 private:
  std::string_view text_;
  std::string_view what_;
  std::size_t position_ = 0;
};

}  // namespace plait::layout
