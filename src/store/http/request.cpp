#include "store/http/request.hpp"

#include <array>
#include <charconv>
#include <chrono>

namespace plait::store::http {

namespace {

std::optional<int> parse_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

}  // namespace

std::string_view Response::header(std::string_view name) const {
  for (const Header& candidate : headers)
    if (candidate.name == name) return candidate.value;
  return {};
}

std::optional<std::int64_t> parse_date(std::string_view date) {
  // Example: "Wed, 21 Oct 2015 07:28:00 GMT".
  constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (date.size() != 29) return std::nullopt;
  unsigned month = 0;
  while (month < kMonths.size() && kMonths[month] != date.substr(8, 3)) ++month;
  const auto day = parse_number(date.substr(5, 2));
  const auto year = parse_number(date.substr(12, 4));
  const auto hour = parse_number(date.substr(17, 2));
  const auto minute = parse_number(date.substr(20, 2));
  const auto second = parse_number(date.substr(23, 2));
  if (month == kMonths.size() || !day || !year || !hour || !minute || !second) return std::nullopt;
  const std::chrono::sys_days days = std::chrono::year(*year) / std::chrono::month(month + 1) / *day;
  return days.time_since_epoch().count() * std::int64_t{86400} + *hour * 3600 + *minute * 60 + *second;
}

std::string_view url_authority(std::string_view url) {
  const std::size_t slashes = url.find("://");
  if (slashes != std::string_view::npos) url.remove_prefix(slashes + 3);
  return url.substr(0, url.find_first_of("/?"));
}

std::int64_t parse_count(std::string_view text) {
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

std::optional<ContentRange> parse_content_range(std::string_view header) {
  constexpr std::string_view kUnit = "bytes ";
  if (!header.starts_with(kUnit)) return std::nullopt;
  header.remove_prefix(kUnit.size());
  const std::size_t dash = header.find('-');
  const std::size_t slash = header.find('/');
  if (dash == std::string_view::npos || slash == std::string_view::npos || dash > slash) return std::nullopt;
  const ContentRange range{parse_count(header.substr(0, dash)), parse_count(header.substr(dash + 1, slash - dash - 1)),
                           parse_count(header.substr(slash + 1))};
  return range.first >= 0 && range.last >= range.first ? std::optional(range) : std::nullopt;
}

std::string percent_encoded(std::string_view text, std::string_view kept) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string result;
  for (const char c : text) {
    if (is_unreserved(c) || kept.find(c) != std::string_view::npos) {
      result += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    result += '%';
    result += kDigits[byte >> 4];
    result += kDigits[byte & 15];
  }
  return result;
}

}  // namespace plait::store::http
