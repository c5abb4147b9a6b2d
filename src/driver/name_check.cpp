// Checks of names, so that a typing error does not create a file with an unexpected name or format.
//
// Examples: `strip:a.npy` has an unknown prefix that differs in one letter from `stripe:`, which the error suggests.
// `a.npy::x` names an array in a file that holds only one. `./c:a.npy` and `raw:c:a.npy` are ordinary files with a
// colon in their names, and `c:a.npy` is one too, because a single letter is not a prefix.

#include "driver/name_check.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/errors.hpp"
#include "base/nearest.hpp"
#include "base/text.hpp"
#include "container/foreign.hpp"
#include "container/format_registry.hpp"
#include "driver/driver_registry.hpp"
#include "driver/objects/objects_driver.hpp"
#include "store/objects/open_objects.hpp"
#include "store/url.hpp"

namespace plait::driver {

using base::text;

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Returns the text before the first colon if it looks like the prefix of a driver. A single letter, as in a time or a
/// drive, does not.
std::string_view parse_scheme(std::string_view name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos || colon == 0) return {};
  const std::string_view scheme = name.substr(0, colon);
  if (!is_letter(scheme[0])) return {};
  const auto fits = [&](char c) { return is_letter(c) || is_digit(c) || c == '+'; };
  return std::ranges::all_of(scheme, fits) && scheme.size() > 1 ? scheme : std::string_view();
}

std::vector<std::string_view> known_schemes() {
  std::vector<std::string_view> result;
  for (const driver::Driver* driver : driver::drivers())
    if (!driver->prefix().empty()) result.push_back(driver->prefix());
  return result;
}

void check_scheme(const std::string& name, std::string_view scheme) {
  const std::string_view rest = std::string_view(name).substr(scheme.size() + 1);
  const std::vector<std::string_view> known = known_schemes();
  std::string lower;
  for (const char c : scheme) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const auto far = [&](std::string_view word) { return base::distance(lower, word.substr(0, word.size() - 1)); };
  const std::string_view nearest = *std::ranges::min_element(known, {}, far);
  const std::string guess = far(nearest) <= std::min<std::size_t>(2, scheme.size() - 1)
                                ? text("; did you mean ", nearest, rest, '?')
                                : std::string("; leave it out to open an ordinary file.");
  base::throw_argument_error(name, " begins with ", scheme, ":, which is not a kind of store; the kinds are ",
                             base::list_text(known), guess, " For a file of exactly that name write ",
                             container::format_named(name).traits().suffix.empty() ? "raw:" : "./", name);
}

/// Rejects the name of an array in a file that holds only one array, such as `a.npy::x`.
void check_array_part(const std::string& name) {
  const std::string_view file = std::string_view(name).substr(0, name.find("::"));
  if (file.size() == name.size()) return;
  const container::Format& holds = container::format_named(file);
  if (holds.traits().names_arrays || holds.traits().suffix.empty() || &holds == &container::format_named(name)) return;
  if (container::array_name(name).array) return;  // its content is of another format than its suffix
  base::throw_argument_error(name, ": ", holds.traits().kind, " holds one array, which has no name; leave out ::",
                             std::string_view(name).substr(file.size() + 2));
}

/// Rejects the name of an array in a file that exists and that a new one, of the format of its ending, would replace.
void check_replaced(const std::string& name) {
  const container::ArrayName parts = container::array_name(name);
  if (!parts.array || container::format_named(name).traits().names_arrays) return;
  const std::string file(parts.file);
  const std::string_view format = container::format_at(file).traits().name;
  base::throw_argument_error(name, ": a new file would replace ", file, ", which is ",
                             container::format_at(file).traits().kind, ", although its name ends otherwise; write ",
                             format, ':', name, " to replace it by a new one, or choose another name");
}

void check_plain_name(const std::string& name, bool is_new) {
  check_array_part(name);
  if (is_new) check_replaced(name);
  if (!is_new || !container::format_named(name).traits().suffix.empty()) return;
  const std::string_view path = std::string_view(name).substr(0, name.find("::"));
  if (const std::string_view format = container::foreign_by_name(path); !format.empty())
    base::throw_argument_error(
        name, ": the name ends like those of ", format,
        " files, which Plait does not write by that name; choose a name that ends with .npy, .npz, "
        ".safetensors, .h5, .nc or .zarr, or state the format of the new file, as in format=\"hdf5\" or hdf5:",
        name, ", or write raw:", name, " for elements without a header");
}

/// Advice about `memory:/bucket/a.zarr`, a URL in which std::filesystem::path has merged the slashes.
std::string url_advice(const std::string& name) {
  for (const store::ObjectStoreKind* kind : store::object_store_kinds())
    if (name.starts_with(text(kind->scheme, ":/")))
      return text("; for an object store write ", kind->scheme, "://BUCKET/KEY.zarr, as a text and not as a path");
  return {};
}

void check_name_after_prefix(const std::string& name, bool is_new) {
  const std::string_view whole = driver::without_prefix(name);
  const std::string_view path = whole.substr(0, whole.find('?'));
  const container::Format& named = container::format_named(path);
  if (driver::find_driver(name).contents() == driver::Contents::kByName && !named.traits().suffix.empty()) return;
  if (!named.traits().suffix.empty() && named.traits().suffix != container::kHeaderName)
    base::throw_argument_error(name, ": names that end with ", named.traits().suffix, " stand for ordinary files only",
                               is_new ? "; choose another name" : "; rename it, or leave out the prefix",
                               url_advice(name));
  const std::string_view format = container::foreign_by_name(path);
  if (named.traits().suffix.empty() && !format.empty())
    base::throw_argument_error(name, ": the name ends like those of ", format,
                               " files, which Plait does not read or write in stores of this kind",
                               is_new ? "; choose another name" : "; rename it, or leave out the prefix");
}

}  // namespace

void check_name(const std::string& name, bool is_new) {
  if (store::is_raw(name)) {
    if (name.size() == store::kRaw.size())
      base::throw_argument_error("there is no name after raw:; give one, as in raw:field.bin");
    return;
  }
  if (&driver::find_driver(name) == &driver::objects::driver()) return driver::objects::check_name(name, is_new);
  const bool plain = driver::find_driver(name).prefix().empty();
  if (const container::ArrayName parts = container::array_name(name); plain && parts.format != nullptr) {
    if (parts.file.empty())
      base::throw_argument_error("there is no name after ", name, "; give one, as in ", name, "field");
    return;
  }
  const std::string_view scheme = parse_scheme(name);
  const bool names_array = name.compare(scheme.size(), 2, "::") == 0 && container::array_name(name).array.has_value();
  if (plain && !scheme.empty() && !names_array) check_scheme(name, scheme);
  if (plain)
    check_plain_name(name, is_new);
  else
    check_name_after_prefix(name, is_new);
}

}  // namespace plait::driver
