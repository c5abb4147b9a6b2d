#include "trace/formats/text1992/dialect.hpp"

#include <algorithm>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "trace/formats/remarks.hpp"
#include "trace/formats/text1992/state.hpp"

namespace plait::trace::text1992 {

namespace {

constexpr std::string_view kHead = "plait-1992 ";
constexpr std::size_t kHeadReach = 64;  // maximum position of the head comment's text

constexpr std::array<std::int8_t, 256> digit_values() {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  for (int i = 0; i < 10; ++i) values[static_cast<std::size_t>('0' + i)] = static_cast<std::int8_t>(i);
  for (int i = 0; i < 6; ++i) {
    values[static_cast<std::size_t>('A' + i)] = static_cast<std::int8_t>(10 + i);
    values[static_cast<std::size_t>('a' + i)] = static_cast<std::int8_t>(10 + i);
  }
  return values;
}
constexpr auto kDigitValues = digit_values();

std::string separator_word(char separator) {
  return separator == ' ' ? "blank" : separator == '\t' ? "tab" : std::string(1, separator);
}

std::string_view first_line(std::string_view head) { return head.substr(0, head.find('\n')); }

std::size_t find_head(std::string_view line) { return line.substr(0, kHeadReach + kHead.size()).find(kHead); }

/// True if a line is a record, or a comment in the form of one. Increments `records` for a record.
bool is_record_or_comment(std::string_view line, int base, char separator, int& records) {
  Numbers numbers(line, base, separator);
  std::uint64_t type = 0;
  std::uint64_t flags = 0;
  if (numbers.next(type) != Numbers::NumberStatus::kNumber || type > 0xff) return false;
  if (type == record_type::kComment) return true;
  if (numbers.next(flags) != Numbers::NumberStatus::kNumber || (flags & ~std::uint64_t{compression::kDefined}) != 0)
    return false;
  int numbers_left = 8;  // a record has ten fields, of which the compression flags may leave out five
  for (const unsigned bit : {compression::kNoLength, compression::kNoBlock, compression::kNoProcess,
                             compression::kNoOperation, compression::kNoFile})
    if ((flags & bit) != 0) --numbers_left;
  std::uint64_t value = 0;
  Numbers::NumberStatus status = Numbers::NumberStatus::kNumber;
  while ((status = numbers.next(value)) == Numbers::NumberStatus::kNumber) --numbers_left;
  ++records;
  return numbers_left == 0 && status == Numbers::NumberStatus::kEnd;
}

/// The base in which all lines are records; 0: none. If they are records in both bases it is 16, as in figure 1.
struct BaseGuess {
  int base = 0;
  bool fits_both = false;
};

BaseGuess detect_base(std::string_view head, char separator, std::string_view comment) {
  int base = 16;
  int records = 0;
  bool fits_base_16 = true;
  bool fits_base_10 = true;
  while (!head.empty()) {
    const std::size_t end = head.find('\n');
    if (end == std::string_view::npos && records > 0) break;  // the line may be incomplete
    std::string_view line = head.substr(0, end);
    head.remove_prefix(end == std::string_view::npos ? head.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos || line.front() == '#') continue;
    if (!comment.empty() && line.starts_with(comment)) continue;
    int line_records = 0;
    fits_base_16 = fits_base_16 && is_record_or_comment(line, 16, separator, line_records);
    fits_base_10 = fits_base_10 && is_record_or_comment(line, 10, separator, line_records);
    records += line_records;
    if (!fits_base_16 && !fits_base_10) return {};
    base = fits_base_16 ? 16 : 10;
  }
  if (records == 0) return {};
  return {base, fits_base_16 && fits_base_10};
}

}  // namespace

Numbers::NumberStatus Numbers::next(std::uint64_t& value) {
  skip_blanks();
  if (!is_first_ && separator_ != ' ' && separator_ != '\t') {
    if (at_ == end_) return NumberStatus::kEnd;
    if (*at_ != separator_) return NumberStatus::kInvalid;
    ++at_;
    skip_blanks();
  }
  if (at_ == end_)
    return is_first_ || separator_ == ' ' || separator_ == '\t' ? NumberStatus::kEnd : NumberStatus::kInvalid;
  is_first_ = false;
  if (base_ == 16 && end_ - at_ > 2 && at_[0] == '0' && (at_[1] == 'x' || at_[1] == 'X')) at_ += 2;
  const char* const begin = at_;
  std::uint64_t number = 0;
  bool is_too_large = false;
  if (base_ == 16) {
    for (; at_ != end_; ++at_) {
      const int digit = kDigitValues[static_cast<unsigned char>(*at_)];
      if (digit < 0) break;
      is_too_large = is_too_large || (number >> 60) != 0;
      number = number << 4 | static_cast<std::uint64_t>(digit);
    }
  } else {
    for (; at_ != end_; ++at_) {
      const auto digit = static_cast<unsigned>(*at_ - '0');
      if (digit > 9) break;
      is_too_large = __builtin_mul_overflow(number, std::uint64_t{10}, &number) ||
                     __builtin_add_overflow(number, std::uint64_t{digit}, &number) || is_too_large;
    }
  }
  if (at_ == begin || (at_ != end_ && !at_separator() && *at_ != ' ' && *at_ != '\t')) return NumberStatus::kInvalid;
  value = number;
  return is_too_large ? NumberStatus::kTooLarge : NumberStatus::kNumber;
}

void Dialect::check() const {
  if (base != 10 && base != 16)
    base::throw_argument_error("numbers of a 1992 trace have the base 10 or 16, not ", base);
  const bool blank = separator == ' ' || separator == '\t';
  if (!blank && std::string_view(",;:|/&=_~^!*@$").find(separator) == std::string_view::npos)
    base::throw_argument_error("fields of a 1992 trace cannot be separated by '", separator,
                               "'; take a blank, a tab or one of ,;:|/&=_~^!*@$");
  if (tick < 1 || tick > 1'000'000'000'000'000)
    base::throw_argument_error("a unit of time has 1 ns to 10^15 ns, not ", tick);
  if (block < 1 || block > (std::int64_t{1} << 40))
    base::throw_argument_error("a block has 1 byte to 1 TiB, not ", block);
  const bool printable =
      std::all_of(comment.begin(), comment.end(), [](char letter) { return letter > 0x20 && letter < 0x7f; });
  if (!printable || comment.size() > 32)
    base::throw_argument_error("a comment begins with up to 32 printable characters without blanks");
  std::uint64_t value = 0;
  if (Numbers(comment, base, separator).next(value) == Numbers::NumberStatus::kNumber && value != record_type::kComment)
    base::throw_argument_error("a comment that begins with '", comment, "' would look like a record");
}

std::string Dialect::comment_start() const {
  if (!comment.empty()) return comment + " ";
  return (base == 16 ? "FF" : "255") + std::string(1, separator);
}

std::string Dialect::head() const {
  return base::text(comment_start(), kHead, "version=1 base=", base, " separator=", separator_word(separator),
                    " comment=", comment.empty() ? (base == 16 ? "FF" : "255") : comment, " tick=", tick,
                    " block=", block, " numbers=64 extensions=", has_extensions ? "yes" : "no");
}

Dialect detect_dialect(std::string_view head, const ReadOptions& options) {
  Dialect dialect;
  int base = options.base;
  dialect.comment = options.comment;
  dialect.block = options.block;
  const std::string_view line = first_line(head);
  const std::size_t begin = find_head(line);
  if (begin != std::string_view::npos) {
    dialect.is_from_plait = true;
    Pairs pairs(line.substr(begin + kHead.size()));
    std::string_view key;
    std::string_view value;
    while (pairs.next(key, value)) {
      const auto number = to_number(value).value_or(0);
      if (key == "version" && number != 1)
        base::throw_argument_error("the 1992 trace is of Plait's version ", value, "; this Plait reads version 1");
      if (key == "base" && options.base == 0) base = static_cast<int>(std::clamp<std::int64_t>(number, 0, 99));
      if (key == "separator" && !value.empty())
        dialect.separator = value == "blank" ? ' ' : value == "tab" ? '\t' : value.front();
      if (key == "comment" && options.comment.empty() && value != "FF" && value != "255") dialect.comment = value;
      if (key == "tick") dialect.tick = number;
      if (key == "block" && options.block == 512) dialect.block = number;
      if (key == "extensions") dialect.has_extensions = value == "yes";
    }
  }
  if (options.separator != 0) dialect.separator = options.separator;
  if (options.tick != 0) dialect.tick = options.tick;
  if (base == 0) {
    const BaseGuess detected = detect_base(head, dialect.separator, dialect.comment);
    base = detected.base;
    dialect.is_base_guessed = detected.fits_both;
  }
  dialect.base = base == 0 ? 16 : base;
  dialect.check();
  return dialect;
}

Dialect make_dialect(const WriteOptions& options) {
  Dialect dialect;
  dialect.base = options.base;
  if (options.separator != 0) dialect.separator = options.separator;
  if (options.tick != 0) dialect.tick = options.tick;
  dialect.block = options.block;
  dialect.comment = options.comment;
  dialect.is_from_plait = true;
  dialect.has_extensions = !options.plain;
  dialect.check();
  return dialect;
}

bool looks_like(std::string_view head) {
  return find_head(first_line(head)) != std::string_view::npos || detect_base(head, ' ', {}).base != 0;
}

}  // namespace plait::trace::text1992
