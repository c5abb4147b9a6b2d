/// The properties that the 1992 format leaves open, and the head comment that states them in a trace of Plait.
///
/// The paper specifies neither the number base, nor the separator, nor the syntax of comments; its figure 1 shows
/// hexadecimal numbers and blanks. A unit of time is 1 us in section 4.1 and once in the appendix; other passages
/// have lost a letter and may mean 10 us.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "plait/trace.hpp"

namespace plait::trace::text1992 {

struct Dialect {
  int base = 16;                 ///< 10 or 16
  char separator = ' ';          ///< ' ': any number of blanks and tabs
  std::string comment;           ///< beginning of comment lines; empty: they are records of the type ff
  std::int64_t tick = 1000;      ///< in ns
  std::int64_t block = 512;      ///< in bytes
  bool is_from_plait = false;    ///< true if the trace has the head comment
  bool is_base_guessed = false;  ///< true if the records are valid in both bases
  bool has_extensions = false;   ///< true if comments contain data that records cannot

  /// errors  kArgument: an invalid base, separator, tick or block.
  void check() const;
  /// Returns the text that precedes a comment.
  std::string comment_start() const;
  /// Returns the head comment without its line end.
  std::string head() const;
};

/// Determines the dialect from the first bytes of a trace: from its head comment, or else from its records. Options
/// override both.
/// errors  kArgument: a head comment that cannot be parsed.
Dialect detect_dialect(std::string_view head, const ReadOptions& options);
Dialect make_dialect(const WriteOptions& options);

/// True if this could be a trace of the format: it has the head comment, or all of its lines are comments and
/// records.
bool looks_like(std::string_view head);

/// Parses the numbers of a line.
class Numbers {
 public:
  enum class NumberStatus : std::uint8_t { kNumber, kEnd, kInvalid, kTooLarge };

  Numbers(std::string_view line, int base, char separator)
      : at_(line.data()), end_(line.data() + line.size()), base_(base), separator_(separator) {}

  /// Reads the next number. kInvalid: the text is not a number. kTooLarge: it is 2^64 or above.
  NumberStatus next(std::uint64_t& value);
  /// The rest of the line after the separator.
  std::string_view rest() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }

 private:
  void skip_blanks() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t')) ++at_;
  }
  bool at_separator() const { return separator_ == ' ' ? *at_ == ' ' || *at_ == '\t' : *at_ == separator_; }

  const char* at_;
  const char* end_;
  int base_;
  char separator_;
  bool is_first_ = true;
};

}  // namespace plait::trace::text1992
