#include "base/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cinttypes>
#include <cstdio>

namespace plait::base {

namespace {

template <typename Number>
void append_digits(std::string& out, Number number) {
  std::array<char, 20> digits;  // digits of the longest numbers: -2^63 and 2^64 - 1
  out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

}  // namespace

void append(std::string& out, std::string_view text) { out += text; }
void append(std::string& out, std::int64_t number) { append_digits(out, number); }
void append(std::string& out, std::uint64_t number) { append_digits(out, number); }

void append(std::string& out, double number) {
  std::array<char, 24> digits;
  std::snprintf(digits.data(), digits.size(), "%g", number);
  out += digits.data();
}

std::string to_lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

std::string aligned_right(std::string_view text, std::size_t width) {
  std::string out(width - std::min(width, text.size()), ' ');
  out += text;
  return out;
}

std::string aligned_left(std::string_view text, std::size_t width) {
  std::string out(text);
  if (out.size() < width) out.resize(width, ' ');
  return out;
}

std::string hexadecimal_text(std::uint64_t number) {
  std::array<char, 17> digits;
  std::snprintf(digits.data(), digits.size(), "%016" PRIx64, number);
  return digits.data();
}

std::string tuple_text(std::span<const std::int64_t> values) {
  std::string out = "(";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ", ";
    append(out, values[i]);
  }
  return out + ')';
}

std::string bytes_text(std::int64_t bytes) {
  static constexpr std::array<const char*, 7> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  const bool is_integral = unit == 0 || value == static_cast<double>(static_cast<std::int64_t>(value));
  std::array<char, 32> shown;
  std::snprintf(shown.data(), shown.size(), "%.*f %s", is_integral ? 0 : 1, value, kUnits[unit]);
  return shown.data();
}

std::string time_text(double seconds) {
  const bool micro = seconds < 1e-3;
  const bool milli = seconds < 1;
  const double value = micro ? seconds * 1e6 : milli ? seconds * 1e3 : seconds;
  std::array<char, 48> shown;
  std::snprintf(shown.data(), shown.size(), "%.*f %s", value < 10 ? 1 : 0, value, micro ? "us" : milli ? "ms" : "s");
  return shown.data();
}

}  // namespace plait::base
