// Parses the URLs of pipes, such as `pipe:flow?queue=2&timeout=60`.

#include "pipe/options.hpp"

#include <charconv>
#include <cmath>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "pipe/meeting_file.hpp"
#include "store/url.hpp"

namespace plait::pipe {

namespace {

[[noreturn]] void throw_invalid_option(const std::string& url, const store::UrlOption& option, const char* expected) {
  base::throw_argument_error(url, ": ", option.key, '=', option.value, " is not ", expected);
}

template <typename Number>
bool parse_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

/// Parses a number of steps or programs.  expected: the description of valid values for the error.
int parse_count(const std::string& url, const store::UrlOption& option, int min, const char* expected) {
  constexpr int kMax = 1 << 20;  // no real queue or group of readers is larger
  int number = 0;
  if (!parse_number(option.value, number) || number < min || number > kMax) throw_invalid_option(url, option, expected);
  return number;
}

/// Parses a port, as `4700`, or a range of them, as `4700-4800`.
void parse_ports(Options& options, const std::string& url, const store::UrlOption& option) {
  constexpr int kMaxPort = 65535;
  const std::size_t dash = option.value.find('-');
  const std::string_view value = option.value;
  const std::string_view last = dash == std::string_view::npos ? value : value.substr(dash + 1);
  if (!parse_number(value.substr(0, dash), options.first_port) || !parse_number(last, options.last_port) ||
      options.first_port < 1 || options.last_port > kMaxPort || options.first_port > options.last_port)
    throw_invalid_option(url, option, "a range of ports, such as 4700-4800");
}

}  // namespace

Options parse_options(const std::string& url) {
  const store::Url url_parts = store::parse_url(url, "pipe:", "pipe:flow?queue=2");
  Options options;
  options.name = url_parts.path;
  check_pipe_name(options.name, url);
  for (const store::UrlOption& option : url_parts.options) {
    if (option.key == "queue") {
      options.queue = parse_count(url, option, 1, "a number of steps, 1 or more");
    } else if (option.key == "readers") {
      options.readers = parse_count(url, option, 0, "a number of programs, 0 or more");
    } else if (option.key == "drop") {
      if (option.value != "oldest" && option.value != "none")
        throw_invalid_option(url, option, "\"oldest\" or \"none\"");
      options.when_full = option.value == "oldest" ? FullQueuePolicy::kDropOldest : FullQueuePolicy::kWait;
    } else if (option.key == "timeout") {
      double seconds = 0;
      if (!parse_number(option.value, seconds) || !(seconds >= 0) || !std::isfinite(seconds))
        throw_invalid_option(url, option, "a number of seconds");
      constexpr double kMaxSeconds = 1e9;  // 32 years; a longer time would overflow when it is added to a clock's
      options.timeout = std::chrono::duration<double>(std::min(seconds, kMaxSeconds));
    } else if (option.key == "network") {
      options.network = store::unescaped(option.value, url);
    } else if (option.key == "ports") {
      parse_ports(options, url, option);
    } else if (option.key == "casting") {
      const auto casting = copy::parse_casting(option.value);
      if (!casting) throw_invalid_option(url, option, "\"no\", \"safe\" or \"same_kind\"");
      options.casting = *casting;
    } else {
      base::throw_argument_error(url, ": the option \"", option.key,
                                 "\" is not known; use queue=, drop=, readers=, timeout=, network=, "
                                 "ports= and casting=, separated by &");
    }
  }
  if (options.when_full == FullQueuePolicy::kDropOldest && options.queue < 2)
    base::throw_argument_error(url, ": drop=oldest needs queue=2 or more: a step that is read, and the next one");
  return options;
}

}  // namespace plait::pipe
