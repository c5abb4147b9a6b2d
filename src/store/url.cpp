#include "store/url.hpp"

#include <algorithm>
#include <charconv>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "plait/error.hpp"

namespace plait::store {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

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
      base::throw_argument_error(url, ": %", digits, " is not the code of a character; write %25 for a % in the name");
    result += static_cast<char>(code);
    i += 2;
  }
  return result;
}

std::int64_t parse_bytes_option(const UrlOption& option, const std::string& url) {
  const std::string& value = option.value;
  const auto make_error = [&](const char* why) {
    return Error(ErrorKind::kArgument, base::text(url, ": ", option.key, '=', value, ' ', why,
                                                  "; give a number of bytes above 0, such as 65536 or 64K"));
  };
  std::int64_t bytes = 0;
  const char* last = value.data() + value.size();
  const auto [end, error] = std::from_chars(value.data(), last, bytes);
  if (error == std::errc::result_out_of_range) throw make_error("is too large");
  if (error != std::errc() || last - end > 1) throw make_error("is not a number of bytes");
  if (end != last) {
    constexpr std::string_view kSuffixes = "KMGkmg";  // powers of 1024: 1, 2, 3
    const std::size_t suffix = kSuffixes.find(*end);
    if (suffix == std::string_view::npos) throw make_error("is not a number of bytes");
    const int bits = static_cast<int>(suffix % 3 + 1) * 10;
    if (bytes > INT64_MAX >> bits) throw make_error("is too large");
    bytes *= std::int64_t{1} << bits;
  }
  if (bytes < 1) throw make_error("is not above 0");
  return bytes;
}

Url parse_url(const std::string& url, std::string_view scheme, const std::string& example) {
  const auto fail = [&url](const auto&... why) { base::throw_argument_error(url, ": ", why...); };
  const std::string_view after_scheme = std::string_view(url).substr(scheme.size());
  const std::size_t question = after_scheme.find('?');
  Url result;
  result.path = unescaped(after_scheme.substr(0, question), url);
  if (result.path.empty()) fail("there is no name after ", scheme, "; give one, as in ", example);
  if (question == std::string_view::npos || question + 1 == after_scheme.size()) return result;
  for (const std::string& text : split(after_scheme.substr(question + 1), '&')) {
    const std::size_t equals = text.find('=');
    UrlOption option{text.substr(0, equals), equals == std::string::npos ? "" : text.substr(equals + 1)};
    if (std::ranges::any_of(result.options, [&](const UrlOption& earlier) { return earlier.key == option.key; }))
      fail(option.key, "= is given twice; give it once");
    result.options.push_back(std::move(option));
  }
  return result;
}

}  // namespace plait::store
