/// Remarks: comments in which text formats store information other than events, `KEYWORD KEY=VALUE ...`, one per
/// line.
///
///   process NUMBER parent= rank= cpu= host= command=      file PROCESS NUMBER NAME
///   missed events= read= written= reason=    counters PROCESS FILE INTERFACE FLAGS NAME=VALUE ...
///   note TEXT    end zero= rounded= complete=
///
/// Numbers are decimal, and times are in ns. Control characters, '%' and, within a word, blanks are written as %XX.
#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "plait/trace.hpp"
#include "trace/words.hpp"

namespace plait::trace {

/// Reads the words and `KEY=VALUE` pairs of a text one after another.
class Pairs {
 public:
  explicit Pairs(std::string_view text) : text_(text) {}
  /// Returns the next word; empty at the end.
  std::string_view word();
  /// Reads the next pair; the value of a word without '=' is empty. Returns false at the end.
  bool next(std::string_view& key, std::string_view& value);
  /// Returns the rest of the text after one blank.
  std::string_view rest();

 private:
  std::string_view text_;
};

/// Composes a remark.
class Remark {
 public:
  explicit Remark(std::string_view keyword) : text_(keyword) {}
  void word(std::string_view raw);  ///< adds one word
  void line(std::string_view raw);  ///< adds the rest of the line; blanks stay
  void pair(std::string_view key, std::string_view raw);
  void number(std::string_view key, std::int64_t value);
  void natural(std::string_view key, std::uint64_t value);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string remark_text(const Process& process);
std::string remark_text(const File& file);
std::string remark_text(const MissedCalls& missed);
std::string remark_text(const Counters& counters);
std::string note_text(std::string_view note);
/// Returns the remark that ends a trace.
/// tick  unit of the times in the trace; Description::tick is written as `rounded=` only if it differs.
std::string end_text(const Description& description, std::int64_t tick);

/// The result of take_remark().
enum class RemarkStatus : std::uint8_t {
  kStored,          ///< the description contains the remark
  kEnd,             ///< as kStored, and this remark ends the trace
  kUnknownKeyword,  ///< not a remark
  kInvalid          ///< the keyword is known, but the text after it cannot be parsed
};

/// Parses a remark and stores it in the description.
RemarkStatus take_remark(std::string_view keyword, Pairs pairs, Description& description);

/// Parses a decimal number. Returns false, and does not change `to`, if it is not one or too large.
template <typename T>
bool parse_natural(std::string_view text, T& to) {
  const auto number = to_natural(text, std::numeric_limits<T>::max());
  if (number) to = static_cast<T>(*number);
  return number.has_value();
}

inline bool parse_number(std::string_view text, std::int64_t& to) {
  const auto number = to_number(text);
  if (number) to = *number;
  return number.has_value();
}

}  // namespace plait::trace
