#include "trace/formats/import/strace/line.hpp"

#include <algorithm>

#include "trace/formats/import/import.hpp"

namespace plait::trace::strace {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '?';
}
bool all_digits(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_digit); }

/// Parses `12:34:56` with or without a fraction.
std::optional<std::int64_t> time_of_day(std::string_view word) {
  if (word.size() < 8 || word[2] != ':' || word[5] != ':') return std::nullopt;
  const auto hours = whole_number(word.substr(0, 2));
  const auto minutes = whole_number(word.substr(3, 2));
  const auto seconds = scaled_number(word.substr(6), kSecond);
  if (!hours || !minutes || !seconds) return std::nullopt;
  return (*hours * 3600 + *minutes * 60) * kSecond + *seconds;
}

/// Removes and returns the first word, with the blanks around it.
std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const std::string_view word = text.substr(0, std::min(text.find(' '), text.size()));
  text.remove_prefix(word.size());
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return word;
}

/// Splits a list of arguments or elements at its commas. Returns the position of its end, a closing bracket or the end
/// of the text.
std::size_t split_list(std::string_view text, std::vector<std::string_view>& parts) {
  int depth = 0;
  std::size_t begin = 0;
  const auto add = [&](std::size_t end) {
    const std::string_view part = trimmed(text.substr(begin, end - begin));
    if (!part.empty() || !parts.empty()) parts.push_back(part);
    begin = end + 1;
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at)
        if (text[at] == '\\') ++at;
    } else if (c == '<' && at > 0 && is_name_character(text[at - 1])) {
      // After a descriptor: its file, in which -> separates the ends of a socket.
      while (at < text.size() && !(text[at] == '>' && text[at - 1] != '-')) ++at;
    } else if (c == '/' && at + 1 < text.size() && text[at + 1] == '*') {
      const std::size_t end = text.find("*/", at + 2);
      at = end == std::string_view::npos ? text.size() : end + 1;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      if (depth-- == 0) {
        add(at);
        return at;
      }
    } else if (c == ',' && depth == 0) {
      add(at);
    }
  }
  add(text.size());
  return text.size();
}

/// Removes the duration at the end, such as `<0.000123>`, and returns it in ns; -1 if there is none.
std::int64_t take_duration(std::string_view& text) {
  text = trimmed(text);
  const std::size_t begin = text.rfind('<');
  if (text.empty() || text.back() != '>' || begin == std::string_view::npos) return -1;
  const std::string_view seconds = text.substr(begin + 1, text.size() - begin - 2);
  if (seconds.empty() || !is_digit(seconds.front()) || seconds.find('.') == std::string_view::npos) return -1;
  const auto time = scaled_number(seconds, kSecond);
  if (!time) return -1;
  text = trimmed(text.substr(0, begin));
  return *time;
}

}  // namespace

Line parse_line(std::string_view text) {
  Line line;
  while (true) {
    const std::string_view before = text;
    const std::string_view word = take_word(text);
    if (word == "[pid") {
      const std::string_view number = take_word(text);
      if (number.size() < 2 || number.back() != ']' || !all_digits(number.substr(0, number.size() - 1))) return line;
      line.thread = *whole_number(number.substr(0, number.size() - 1));
    } else if (all_digits(word) && line.thread < 0 && line.clock == Clock::kNone && !text.empty() && text[0] != '=') {
      line.thread = *whole_number(word);
    } else if (const auto time_in_day = time_of_day(word)) {
      line.clock = Clock::kDay;
      line.time = *time_in_day;
    } else if (word.size() > 2 && is_digit(word[0]) && word.find('.') != std::string_view::npos &&
               scaled_number(word, kSecond)) {
      line.time = *scaled_number(word, kSecond);
      // More than three years can only be a time since 1970, of -ttt.
      line.clock = line.time > 100'000'000 * kSecond ? Clock::kEpoch : Clock::kRelative;
    } else if (word == "(+") {  // -r together with -t
      take_word(text);
    } else {
      text = before;
      text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
      break;
    }
  }
  line.text = text;
  if (text.starts_with("+++ ")) {
    line.kind = LineKind::kExited;
  } else if (text.starts_with("--- ")) {
    line.kind = LineKind::kSignal;
  } else if (text.starts_with("strace: ")) {
    line.kind = LineKind::kRemark;
  } else if (text.starts_with("<... ")) {
    const std::size_t end = text.find(" resumed>");
    if (end == std::string_view::npos || end < 5) return line;
    line.name = text.substr(5, end - 5);
    line.text = text.substr(end + 9);
    line.kind = LineKind::kResumed;
  } else {
    std::size_t end = 0;
    while (end < text.size() && is_name_character(text[end])) ++end;
    if (end == 0 || end >= text.size() || text[end] != '(') return line;
    line.name = text.substr(0, end);
    line.text = text.substr(end + 1);
    line.kind = LineKind::kCall;
    const std::string_view rest = trimmed(line.text);
    for (const std::string_view mark : {"<unfinished ...>", "<detached ...>"}) {
      if (!rest.ends_with(mark)) continue;
      line.kind = LineKind::kUnfinished;
      line.text = rest.substr(0, rest.size() - mark.size());
    }
  }
  return line;
}

bool parse_call(std::string_view text, Call& call) {
  call = {};
  const std::size_t end = split_list(text, call.arguments);
  if (end >= text.size()) return false;
  text = trimmed(text.substr(end + 1));
  if (text.empty() || text.front() != '=') return false;
  text.remove_prefix(1);
  call.duration = take_duration(text);
  if (text.empty()) return false;
  if (text.front() == '?') {
    text.remove_prefix(1);
    if (trimmed(text).starts_with("E"))
      call.has_result = true, call.result = -4;  // -EINTR: interrupted, to be restarted
    return true;
  }
  const auto number = leading_number(text);
  if (!number) return false;
  call.has_result = true;
  call.result = *number;
  const std::size_t blank = std::min(text.find(' '), text.size());
  call.annotation = find_annotation(text);
  if (*number == -1 && call.annotation.empty()) {
    const std::string_view rest = trimmed(text.substr(blank));
    call.result = error_number(rest.substr(0, std::min(rest.find(' '), rest.size())));
  }
  return true;
}

std::vector<std::string_view> split_arguments(std::string_view text) {
  std::vector<std::string_view> parts;
  split_list(text, parts);
  return parts;
}

std::vector<std::string_view> elements(std::string_view text) {
  std::vector<std::string_view> parts;
  if (!text.empty() && (text.front() == '[' || text.front() == '{')) split_list(text.substr(1), parts);
  return parts;
}

std::optional<std::int64_t> leading_number(std::string_view text) {
  const bool minus = text.starts_with('-');
  if (minus) text.remove_prefix(1);
  int base = 10;
  if (text.starts_with("0x")) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text[0] == '0') {
    base = 8;
  }
  std::int64_t value = 0;
  std::size_t digits = 0;
  for (; digits < text.size(); ++digits) {
    const char c = text[digits];
    const int digit = is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
    if (digit >= base) break;
    value = value > (kMaxValue - digit) / base ? kMaxValue : value * base + digit;
  }
  if (digits == 0) return std::nullopt;
  return minus ? -value : value;
}

std::string_view find_annotation(std::string_view argument) {
  std::size_t begin = 0;
  while (begin < argument.size() && is_name_character(argument[begin])) ++begin;
  if (begin == 0 || begin >= argument.size() || argument[begin] != '<') return {};
  std::size_t end = begin + 1;
  while (end < argument.size() && !(argument[end] == '>' && argument[end - 1] != '-')) ++end;
  return end < argument.size() ? argument.substr(begin + 1, end - begin - 1) : std::string_view{};
}

std::string unquoted(std::string_view text) {
  const std::size_t begin = text.find('"');
  if (begin == std::string_view::npos) return std::string(text);
  std::string out;
  for (std::size_t at = begin + 1; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] != '\\' || at + 1 >= text.size()) {
      out += text[at];
      continue;
    }
    const char c = text[++at];
    if (c >= '0' && c <= '7') {
      int value = 0;
      std::size_t digits = 0;
      while (digits < 3 && at < text.size() && text[at] >= '0' && text[at] <= '7') {
        value = value * 8 + (text[at++] - '0');
        ++digits;
      }
      --at;
      out += static_cast<char>(value);
    } else {
      constexpr std::string_view kLetters = "ntrvf";
      constexpr std::string_view kEscapes = "\n\t\r\v\f";
      const std::size_t index = kLetters.find(c);
      out += index == std::string_view::npos ? c : kEscapes[index];
    }
  }
  return out;
}

}  // namespace plait::trace::strace
