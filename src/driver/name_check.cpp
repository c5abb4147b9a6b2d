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

/// Returns the text before the first colon if it looks like the prefix of a driver; otherwise an empty text. A single
/// letter, such as the drive in `c:a.npy`, does not look like one.
std::string_view parse_scheme(std::string_view name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos || colon == 0) return {};
  const std::string_view scheme = name.substr(0, colon);
  if (!is_letter(scheme[0])) return {};
  const auto may_occur = [&](char c) { return is_letter(c) || is_digit(c) || c == '+'; };
  return std::ranges::all_of(scheme, may_occur) && scheme.size() > 1 ? scheme : std::string_view();
}

/// Returns the prefixes of all drivers, with their colons.
std::vector<std::string_view> driver_prefixes() {
  std::vector<std::string_view> result;
  for (const driver::Driver* driver : driver::drivers())
    if (!driver->prefix().empty()) result.push_back(driver->prefix());
  return result;
}

/// Throws an error that suggests the prefix nearest to `scheme`, which is not that of a driver.
[[noreturn]] void throw_unknown_scheme(const std::string& name, std::string_view scheme) {
  const std::string_view after_scheme = std::string_view(name).substr(scheme.size() + 1);
  const std::vector<std::string_view> prefixes = driver_prefixes();
  std::string lower_scheme;
  for (const char c : scheme) lower_scheme += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  // Number of letters to change, without the colon of the prefix.
  const auto distance_to = [&](std::string_view prefix) {
    return base::distance(lower_scheme, prefix.substr(0, prefix.size() - 1));
  };
  const std::string_view nearest = *std::ranges::min_element(prefixes, {}, distance_to);
  // Up to two wrong letters look like a typing error, unless they are all letters of the scheme.
  const bool is_likely = distance_to(nearest) <= std::min<std::size_t>(2, scheme.size() - 1);
  const std::string suggestion = is_likely ? text("; did you mean ", nearest, after_scheme, '?')
                                           : std::string("; leave it out to open an ordinary file.");
  base::throw_argument_error(name, " begins with ", scheme, ":, which is not a kind of store; the kinds are ",
                             base::list_text(prefixes), suggestion, " For a file of exactly that name write ",
                             container::format_named(name).traits().suffix.empty() ? "raw:" : "./", name);
}

/// Rejects the name of an array in a file that holds only one array, such as `a.npy::x`.
void check_array_part(const std::string& name) {
  const std::string_view file = std::string_view(name).substr(0, name.find("::"));
  if (file.size() == name.size()) return;
  const container::Format& format_of_file = container::format_named(file);
  if (format_of_file.traits().names_arrays || format_of_file.traits().suffix.empty() ||
      &format_of_file == &container::format_named(name))
    return;
  if (container::array_name(name).array) return;  // its content is of another format than its suffix
  base::throw_argument_error(
      name, ": ", format_of_file.traits().kind,
      " holds one array, which has no name; leave out ::", std::string_view(name).substr(file.size() + 2));
}

/// Rejects a new name `FILE::ARRAY` if the ending of FILE stands for a format of one array, but the existing FILE has a
/// format of several: the new file would replace all of them.
void check_replaced(const std::string& name) {
  const container::ArrayName parts = container::array_name(name);
  if (!parts.array || container::format_named(name).traits().names_arrays) return;
  const std::string file(parts.file);
  const std::string_view format = container::format_at(file).traits().name;
  base::throw_argument_error(name, ": a new file would replace ", file, ", which is ",
                             container::format_at(file).traits().kind, ", although its name ends otherwise; write ",
                             format, ':', name, " to replace it by a new one, or choose another name");
}

/// Checks a name without a prefix.
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

/// Returns advice about names like `memory:/bucket/a.zarr`, a URL in which std::filesystem::path has merged the two
/// slashes; empty for other names.
std::string url_advice(const std::string& name) {
  for (const store::ObjectStoreKind* kind : store::object_store_kinds())
    if (name.starts_with(text(kind->scheme, ":/")))
      return text("; for an object store write ", kind->scheme, "://BUCKET/KEY.zarr, as a text and not as a path");
  return {};
}

/// Checks the ending of a name with a prefix, whose store may not hold files of every format.
void check_name_after_prefix(const std::string& name, bool is_new) {
  const std::string_view path_and_options = driver::without_prefix(name);
  const std::string_view path = path_and_options.substr(0, path_and_options.find('?'));
  const std::string_view suffix = container::format_named(path).traits().suffix;  // empty: that of no known format
  if (driver::find_driver(name).contents() == driver::Contents::kByName && !suffix.empty()) return;
  if (!suffix.empty() && suffix != container::kHeaderName)
    base::throw_argument_error(name, ": names that end with ", suffix, " stand for ordinary files only",
                               is_new ? "; choose another name" : "; rename it, or leave out the prefix",
                               url_advice(name));
  const std::string_view format = container::foreign_by_name(path);
  if (suffix.empty() && !format.empty())
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
  const bool is_plain = driver::find_driver(name).prefix().empty();
  if (const container::ArrayName parts = container::array_name(name); is_plain && parts.format != nullptr) {
    if (parts.file.empty())
      base::throw_argument_error("there is no name after ", name, "; give one, as in ", name, "field");
    return;
  }
  const std::string_view scheme = parse_scheme(name);
  // `file::x` looks like the scheme `file`, but is an array in an existing file.
  const bool names_array = name.compare(scheme.size(), 2, "::") == 0 && container::array_name(name).array.has_value();
  if (is_plain && !scheme.empty() && !names_array) throw_unknown_scheme(name, scheme);
  if (is_plain)
    check_plain_name(name, is_new);
  else
    check_name_after_prefix(name, is_new);
}

}  // namespace plait::driver
