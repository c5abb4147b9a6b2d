// Sorting of events that are nearly in order.
//
// Events wait in a queue ordered by start. An event is returned when more than `slack` events wait and no earlier one
// can come (horizon()), or when more than `window` events wait.
//
// Example: slack = 2 and the starts 10, 30, 20, 5. After the third event 10 is returned, and 20 and 30 wait. The
// event at 5 comes too late. It is moved to 10, with its end unchanged, and counted in the notes.

#include "trace/formats/import/import.hpp"

#include <algorithm>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "trace/formats/registry.hpp"
#include "trace/words.hpp"

namespace plait::trace {

namespace {

constexpr std::size_t kMaxExcerpts = 3;     // lines that an error shows
constexpr std::size_t kExcerptBytes = 100;  // of each

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

Import::Import(std::unique_ptr<Source> source, std::string_view format, std::size_t slack, std::size_t window)
    : source_(std::move(source)), slack_(slack), window_(window) {
  description_.format = format;
}

std::size_t Import::read(std::span<Event> output) {
  std::size_t filled = 0;
  while (filled < output.size()) {
    const std::size_t queued = waiting_.size();
    const auto is_in_order = [&] { return queued > slack_ && waiting_.top().event.start < horizon(); };
    if (queued > 0 && (is_at_end_ || queued > window_ || is_in_order())) {
      output[filled++] = pop();
    } else if (is_at_end_) {
      add_final_notes();
      break;
    } else if (!advance()) {
      is_at_end_ = true;
      finish();
    }
  }
  return filled;
}

void Import::put(const Event& event) { waiting_.push({event, sequence_++}); }

Event Import::pop() {
  Event event = waiting_.top().event;
  waiting_.pop();
  if (event.start < last_start_) {
    ++late_events_;
    if (event.duration != kUnknown)
      event.duration = std::max<std::int64_t>(event.start + event.duration - last_start_, 0);
    event.start = last_start_;
  }
  last_start_ = event.start;
  return event;
}

void Import::add_final_notes() {
  if (std::exchange(has_final_notes_, true)) return;
  check_understood();
  if (late_events_ > 0)
    note(base::text(count_text(late_events_, "event came too late to be put in order and stands",
                               "events came too late to be put in order and stand"),
                    " where the trace was; ends are right"));
  if (unknown_lines_ > 0)
    note(base::text(count_text(unknown_lines_, "line or record was", "lines or records were"),
                    " not understood and left out, the first ", first_unknown_));
  if (unknown_lines_ > 0)
    description_.missed.push_back({"lines or records that were not understood", unknown_lines_, 0, 0});
  if (source_->long_lines() > 0) {
    description_.complete = false;
    note(count_text(source_->long_lines(), "line is longer than 1 MiB and was cut",
                    "lines are longer than 1 MiB and were cut"));
  }
}

void Import::check_understood() const {
  if (is_understood_ || sequence_ > 0 || excerpts_.empty()) return;
  std::string lines;
  for (const std::string& line : excerpts_) base::append_parts(lines, lines.empty() ? "" : ", ", line);
  base::throw_argument_error("no line of ", source_->name(), " was understood as ", description_.format,
                             "; it begins with ", lines, "; name the format that it has, one of: ", readable_formats());
}

void Import::add_cut_off_line(std::string_view text) {
  description_.complete = false;
  if (excerpts_.size() < kMaxExcerpts) excerpts_.push_back(quote_excerpt(text));
}

void Import::add_unknown_line(std::string_view text, std::int64_t number) {
  if (excerpts_.size() < kMaxExcerpts) excerpts_.push_back(quote_excerpt(text));
  if (unknown_lines_++ == 0) first_unknown_ = base::text("is number ", number, ": ", quote_excerpt(text));
}

void Import::add_process(std::uint32_t number) {
  Process process;
  process.number = number;
  description_.processes.push_back(std::move(process));
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  if (text.empty()) return std::nullopt;
  std::int64_t value = 0;
  bool is_too_large = false;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    is_too_large = is_too_large || value > kMaxValue / 10;
    if (!is_too_large) value = value * 10 + (c - '0');
  }
  return is_too_large ? kMaxValue : std::min(value, kMaxValue);
}

std::optional<std::int64_t> scaled_number(std::string_view text, std::int64_t unit) {
  const std::size_t point = std::min(text.find('.'), text.size());
  std::int64_t whole = 0;
  if (point > 0) {
    const auto number = whole_number(text.substr(0, point));
    if (!number) return std::nullopt;
    whole = *number;
  } else if (text.size() < 2) {
    return std::nullopt;
  }
  std::int64_t fraction = 0;
  std::int64_t digit_unit = unit;  // ten times the value of the next digit
  for (const char c : text.substr(std::min(point + 1, text.size()))) {
    if (!is_digit(c)) return std::nullopt;
    // Each digit is added by itself, so no power of ten above the unit is needed.
    fraction += digit_unit % 10 * (c - '0') / 10 + digit_unit / 10 * (c - '0');
    digit_unit /= 10;
  }
  if (whole > (kMaxValue - fraction) / unit) return kMaxValue;
  return whole * unit + fraction;
}

std::vector<std::string_view> split_words(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while (true) {
    at = line.find_first_not_of(" \t\r", at);
    if (at == std::string_view::npos) return words;
    const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::string quote_excerpt(std::string_view text) {
  std::string out = "'";
  for (const char c : text.substr(0, kExcerptBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      out += c;
    } else {
      constexpr std::string_view kDigits = "0123456789abcdef";
      out += "\\x";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    }
  }
  return out + (text.size() > kExcerptBytes ? "...'" : "'");
}

}  // namespace plait::trace
