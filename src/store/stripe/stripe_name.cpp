#include "store/stripe/stripe_name.hpp"

#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "store/url.hpp"

namespace plait::store::stripe {

bool is_name(std::string_view url) { return url.starts_with(kScheme); }

Name parse_name(const std::string& url) {
  const auto fail = [&url](const auto&... why) { base::throw_argument_error(url, ": ", why...); };
  Url parts = parse_url(url, kScheme, "stripe:field.bin?disks=/mnt/a,/mnt/b");
  Name name;
  name.path = std::move(parts.path);
  for (const UrlOption& option : parts.options) {
    if (option.key == "disks") {
      name.disks = split(option.value, ',');
      for (std::string& disk : name.disks) {
        if (disk.empty()) fail("disks=", option.value, " has a disk without a name; give folders, separated by commas");
        disk = unescaped(disk, url);
      }
    } else if (option.key == "unit") {
      name.unit = parse_bytes_option(option, url);
    } else {
      fail("the option \"", option.key, "\" is not known; use disks= and unit=, separated by &");
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
