#include "open/name.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "container/foreign.hpp"
#include "container/registry.hpp"
#include "driver/registry.hpp"
#include "plait/error.hpp"
#include "store/url.hpp"

namespace plait::open {

namespace {

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorKind::kArgument, message); }

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// What stands in front of the first colon, if it looks like a scheme; a single letter, as of a time or a drive, does
/// not unless a URL follows.
std::string_view scheme_of(std::string_view name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos || colon == 0) return {};
  const std::string_view scheme = name.substr(0, colon);
  if (!is_letter(scheme[0])) return {};
  const bool url = name.substr(colon).starts_with("://");
  const auto fits = [&](char c) { return is_letter(c) || is_digit(c) || c == '+' || (url && (c == '-' || c == '.')); };
  return std::ranges::all_of(scheme, fits) && (url || scheme.size() > 1) ? scheme : std::string_view();
}

std::vector<std::string_view> known_schemes() {
  std::vector<std::string_view> result;
  for (const driver::Driver* driver : driver::drivers())
    if (!driver->prefix().empty()) result.push_back(driver->prefix());
  return result;
}

void check_scheme(const std::string& name, std::string_view scheme) {
  const std::string_view rest = std::string_view(name).substr(scheme.size() + 1);
  if (rest.starts_with("//"))
    refuse(base::text(name, " is a URL, but Plait opens only files of file systems; give the path of one, or ./", name,
                      " for a file of that name"));
  const std::vector<std::string_view> known = known_schemes();
  std::string lower;
  for (const char c : scheme) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const auto far = [&](std::string_view word) { return base::distance(lower, word.substr(0, word.size() - 1)); };
  const std::string_view nearest = *std::ranges::min_element(known, {}, far);
  const std::string guess = far(nearest) <= std::min<std::size_t>(2, scheme.size() - 1)
                                ? base::text("; did you mean ", nearest, rest, '?')
                                : std::string("; leave it out to open an ordinary file.");
  refuse(base::text(name, " begins with ", scheme, ":, which is not a kind of store; the kinds are ",
                    base::list_text(known), guess, " For a file of exactly that name write ",
                    container::container_named(name).suffix().empty() ? "raw:" : "./", name));
}

}  // namespace

void check_name(const std::string& name, bool is_new) {
  if (store::is_raw(name)) {
    if (name.size() == store::kRaw.size()) refuse("there is no name after raw:; give one, as in raw:field.bin");
    return;
  }
  const bool plain = driver::driver_of(name).prefix().empty();
  if (const std::string_view scheme = scheme_of(name); plain && !scheme.empty()) check_scheme(name, scheme);
  std::string_view path = driver::without_prefix(name);
  if (!plain) path = path.substr(0, path.find('?'));
  const container::Container& named = container::container_named(path);
  if (const std::string_view file = path.substr(0, path.find("::")); plain && file.size() < path.size()) {
    const container::Container& holds = container::container_named(file);
    if (!holds.names_arrays() && !holds.suffix().empty() && &holds != &named)
      refuse(base::text(name, ": ", holds.kind(),
                        " holds one array, which has no name; leave out ::", path.substr(file.size() + 2)));
    path = file;
  }
  if (driver::driver_of(name).contents() == driver::Contents::kByName && !named.suffix().empty()) return;
  // Before formats that Plait does not read: a name in other letters may be the name of one of those.
  const container::Container* meant = container::container_misspelled(path);
  const std::string_view format = meant != nullptr ? std::string_view() : container::foreign_by_name(path);
  const auto remedy = [&] {
    const std::string_view first = is_new           ? "; choose another name"
                                   : format.empty() ? "; rename it"
                                                    : "; convert it into .npy files with a program for that format";
    return base::text(first, plain ? base::text(", or write raw:", name, " for elements without a header") : "");
  };
  if (meant != nullptr && (plain || meant->suffix() == container::kHeaderName))
    refuse(base::text(name, ": the ending ", meant->suffix(), " of a name must be in small letters", remedy()));
  if (!plain && !named.suffix().empty() && named.suffix() != container::kHeaderName)
    refuse(base::text(name, ": names that end with ", named.suffix(), " stand for ordinary files only",
                      is_new ? "; choose another name" : "; rename it, or leave out the prefix"));
  if (!format.empty())
    refuse(
        base::text(name, ": the name ends like those of ", format,
                   " files, which Plait does not read or write (it reads and writes .npy, .npz and .safetensors files "
                   "and raw elements)",
                   remedy()));
}

}  // namespace plait::open
