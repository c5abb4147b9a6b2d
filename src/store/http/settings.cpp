#include "store/http/settings.hpp"

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "base/errors.hpp"

namespace plait::store::http {

namespace {

struct Limits {
  std::int64_t min;
  std::int64_t max;
};

std::int64_t read_setting(const char* name, std::int64_t default_value, Limits limits) {
  const char* const setting = std::getenv(name);
  if (setting == nullptr || *setting == '\0') return default_value;
  const std::string_view text(setting);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < limits.min || number > limits.max)
    base::throw_argument_error(name, "=", text, " is not a number from ", limits.min, " to ", limits.max,
                               "; use one such as ", default_value, ", or unset it");
  return number;
}

}  // namespace

std::size_t max_in_flight() {
  static const std::int64_t kRequests = read_setting("PLAIT_HTTP_CONNECTIONS", 64, {1, 1000});
  return static_cast<std::size_t>(kRequests);
}

std::int64_t piece_bytes() {
  constexpr std::int64_t kMib = std::int64_t{1} << 20;
  static const std::int64_t kBytes = read_setting("PLAIT_HTTP_PIECE", 4 * kMib, {kMib / 16, 1024 * kMib});
  return kBytes;
}

}  // namespace plait::store::http
