#include "store/stripe/name.hpp"

#include <charconv>

#include "base/text.hpp"
#include "plait/error.hpp"

namespace plait::store::stripe {

namespace {

constexpr std::string_view kScheme = "stripe:";

/// The parts of a text between separators; one empty part of an empty text.
std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// Undoes escaped(), and any other `%XX`.
std::string unescaped(std::string_view text, const std::string& url) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    const std::string_view digits = text.substr(i + 1, 2);
    unsigned code = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (digits.size() != 2 || end != digits.data() + 2 || error != std::errc() || code == 0)
      throw Error(ErrorKind::kArgument,
                  base::text(url, ": %", digits, " stands for no character; write %25 for a % of the name itself"));
    result += static_cast<char>(code);
    i += 2;
  }
  return result;
}

std::int64_t parse_unit(const std::string& value, const std::string& url) {
  const auto wrong = [&](const char* why) {
    return Error(ErrorKind::kArgument,
                 base::text(url, ": unit=", value, ' ', why, "; give a number of bytes above 0, such as 65536 or 64K"));
  };
  std::int64_t unit = 0;
  const char* last = value.data() + value.size();
  const auto [end, error] = std::from_chars(value.data(), last, unit);
  if (error == std::errc::result_out_of_range) throw wrong("is too large");
  if (error != std::errc() || last - end > 1) throw wrong("is not a number of bytes");
  if (end != last) {
    const std::size_t power = std::string_view("KMGkmg").find(*end);
    if (power == std::string_view::npos) throw wrong("is not a number of bytes");
    const int bits = static_cast<int>(power % 3 + 1) * 10;
    if (unit > INT64_MAX >> bits) throw wrong("is too large");
    unit *= std::int64_t{1} << bits;
  }
  if (unit < 1) throw wrong("is not above 0");
  return unit;
}

}  // namespace

bool is_name(std::string_view url) { return url.starts_with(kScheme); }

Name parse_name(const std::string& url) {
  const auto refuse = [&url](const auto&... why) { throw Error(ErrorKind::kArgument, base::text(url, ": ", why...)); };
  const std::string_view rest = std::string_view(url).substr(kScheme.size());
  const std::size_t question = rest.find('?');
  Name name;
  name.path = unescaped(rest.substr(0, question), url);
  if (name.path.empty()) refuse("no name behind stripe:, such as stripe:field.bin?disks=/mnt/a,/mnt/b");
  if (question == std::string_view::npos || question + 1 == rest.size()) return name;
  for (const std::string& option : split(rest.substr(question + 1), '&')) {
    const std::size_t equals = option.find('=');
    const std::string key = option.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : option.substr(equals + 1);
    if (key == "disks") {
      if (!name.disks.empty()) refuse("disks= stands twice; give one list of folders, separated by commas");
      name.disks = split(value, ',');
      for (std::string& disk : name.disks) {
        if (disk.empty()) refuse("disks=", value, " has a disk without a name; give folders, separated by commas");
        disk = unescaped(disk, url);
      }
    } else if (key == "unit") {
      if (name.unit != 0) refuse("unit= stands twice; give it once");
      name.unit = parse_unit(value, url);
    } else {
      refuse("the option \"", key, "\" is not known; use disks= and unit=, separated by &");
    }
  }
  return name;
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '%': result += "%25"; break;
      case '&': result += "%26"; break;
      case ',': result += "%2C"; break;
      case '?': result += "%3F"; break;
      default: result += c;
    }
  }
  return result;
}

}  // namespace plait::store::stripe
