#include "distant/shared/shared_file_description.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <string_view>

#include "base/errors.hpp"
#include "base/text.hpp"

namespace plait::distant::shared {

namespace {

/// The version of descriptions with a limit.  Those without a limit are written as version 1, which every Plait reads.
constexpr int kVersion = 2;
constexpr std::size_t kIdDigits = 16;
/// More components than any machine has cores; a larger number is damaged, and must not make parse() allocate memory.
constexpr int kMaxComponents = 1 << 24;

template <typename Number>
bool take_number(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool is_id(std::string_view text) {
  return text.size() == kIdDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

[[noreturn]] void throw_damaged(const std::string& path, const std::string& why) {
  base::throw_system_error(EBADMSG, "cannot use ", path, ": ", why, "; restore it, or write the shared file anew");
}

}  // namespace

const std::string& Description::host(int of_component) const {
  return std::ranges::find_if(hosts, [&](const Hosts& run) { return of_component <= run.last; })->name;
}

std::string Description::to_text() const {
  std::string text = base::text("plait shared file ", limit > 0 ? kVersion : 1, "\nid ", id, "\ncomponents ",
                                components, "\nunit ", unit, "\ncomponent ", component, '\n');
  if (limit > 0) text += base::text("limit ", limit, '\n');
  for (const Hosts& run : hosts) text += base::text("host ", run.first, ' ', run.last, ' ', run.name, '\n');
  for (const std::string& old : replaced) text += "replaced " + old + '\n';
  return text + "end\n";
}

Description parse(const std::string& text, const std::string& path) {
  std::string_view rest = text;
  const auto line = [&](std::string_view word) {
    if (!take(rest, word)) throw_damaged(path, base::text("it lacks the line that begins with \"", word, '"'));
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) throw_damaged(path, "it ends within a line");
    const std::string_view value = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return value;
  };
  const auto number = [&](std::string_view word, auto& value, std::int64_t least) {
    std::string_view digits = line(word);
    if (!take_number(digits, value) || !digits.empty() || value < least)
      throw_damaged(path, base::text("the line that begins with \"", word, "\" has no number of at least ", least));
  };
  const auto id = [&](std::string_view word) {
    const std::string_view value = line(word);
    if (!is_id(value))
      throw_damaged(path, base::text("the line that begins with \"", word, "\" has no id of ", kIdDigits, " digits"));
    return std::string(value);
  };
  int version = 0;
  number("plait shared file ", version, 1);
  if (version > kVersion)
    base::throw_system_error(EPROTONOSUPPORT, "cannot use ", path, ": it is of version ", version,
                             ", but this Plait knows those up to ", kVersion, "; use a newer Plait");
  Description result;
  result.id = id("id ");
  number("components ", result.components, 1);
  if (result.components > kMaxComponents)
    throw_damaged(path,
                  base::text("it lists ", result.components, " components, but ", kMaxComponents, " is the limit"));
  number("unit ", result.unit, 1);
  number("component ", result.component, 0);
  if (version >= 2) number("limit ", result.limit, 1);
  while (rest.starts_with("host ")) {
    std::string_view run = line("host ");
    const int next = result.hosts.empty() ? 0 : result.hosts.back().last + 1;
    Hosts hosts;
    if (!take_number(run, hosts.first) || !take(run, " ") || !take_number(run, hosts.last) || !take(run, " ") ||
        hosts.first != next || hosts.last < next)
      throw_damaged(path, base::text("the line with component ", next, "'s host is malformed"));
    hosts.name = run;
    result.hosts.push_back(std::move(hosts));
  }
  if (result.hosts.empty() || result.hosts.back().last != result.components - 1)
    throw_damaged(path, "it does not list the hosts of all components");
  while (rest.starts_with("replaced ")) result.replaced.push_back(id("replaced "));
  if (!line("end").empty() || !rest.empty()) throw_damaged(path, "it has text after its last line");
  if (result.component >= result.components)
    throw_damaged(path, base::text("its component number is ", result.component, ", but there are ", result.components,
                                   " components"));
  return result;
}

std::string component_suffix(int component, int components, const std::string& id, char letter) {
  return base::text('.', letter, component, "of", components, '-', id);
}

std::optional<ComponentName> parse_component_name(const std::string& name, const std::string& file) {
  std::string_view rest = name;
  ComponentName found;
  if (!take(rest, file) || !take(rest, ".c") || !take_number(rest, found.component) || !take(rest, "of") ||
      !take_number(rest, found.components) || !take(rest, "-") || rest.size() < kIdDigits)
    return std::nullopt;
  found.id = rest.substr(0, kIdDigits);
  rest.remove_prefix(kIdDigits);
  if (!is_id(found.id) || found.component >= found.components) return std::nullopt;
  found.description = rest == kDescriptionSuffix;
  if (!rest.empty() && !found.description) return std::nullopt;
  return found;
}

}  // namespace plait::distant::shared
