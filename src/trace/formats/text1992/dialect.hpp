/// What the 1992 format leaves open, and the head comment in which a trace of Plait's says it.
///
/// Neither the number base, nor the separator, nor a comment's syntax is given in the paper; its figure 1 shows
/// hexadecimal numbers and blanks.  A unit of time is 1 us in section 4.1 and once in the appendix; other
/// passages have lost a letter and may mean 10 us.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "plait/trace.hpp"

namespace plait::trace::text1992 {

struct Dialect {
  int base = 16;              ///< 10 or 16
  char separator = ' ';       ///< ' ': blanks and tabs, any number of them
  std::string comment;        ///< what begins a comment line; empty: the record type ff
  std::int64_t tick = 1000;   ///< ns
  std::int64_t block = 512;   ///< bytes
  bool ours = false;          ///< has the head comment
  bool base_guessed = false;  ///< the records look like both
  bool extended = false;      ///< comments hold what records cannot

  /// errors  kArgument: a base, separator, tick or block that cannot be.
  void check() const;
  /// What stands in front of the text of a comment.
  std::string mark() const;
  /// The line, without its end.
  std::string head() const;
};

/// Reads the first bytes of a trace: its head comment, else what its records look like; options win over both.
/// errors  kArgument: a head that cannot be understood.
Dialect dialect_of(std::string_view head, const ReadOptions& options);
Dialect dialect_of(const WriteOptions& options);

/// Whether this could be a trace of the format: it has the head comment, or all of its lines are comments and records.
bool looks_like(std::string_view head);

/// The numbers of a line.
class Numbers {
 public:
  enum class Found : std::uint8_t { kNumber, kEnd, kNone, kTooLarge };

  Numbers(std::string_view line, int base, char separator)
      : at_(line.data()), end_(line.data() + line.size()), base_(base), separator_(separator) {}

  /// The next number; kNone: there is something else.
  Found next(std::uint64_t& value);
  /// What is left, from behind the separator.
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
  bool fresh_ = true;
};

}  // namespace plait::trace::text1992
