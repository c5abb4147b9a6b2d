// Files of measured constants. Example:
//
//   # written by plait model calibrate
//   version = 2
//   host = "node1"
//   processor = "AMD EPYC 7B13"
//   cores = 2
//   request_seconds = 4.1e-07   # and so on, for each of plan::kCostTerms
//
// A file that PLAIT_MODEL names is used on any machine, and an error in it fails the open. This host's own file is
// optional: an error in it, or another processor or number of cores, only causes a warning.

#include "core/costs/measured_costs.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/errors.hpp"
#include "base/text.hpp"
#include "base/text_reader.hpp"
#include "plait/error.hpp"

namespace plait::core {

namespace {

using base::text;
using plan::CostModel;

/// Returns a line without blanks at either end.
std::string_view strip(std::string_view line) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  return line;
}

/// The values of a file by name, with their line numbers.
class Values {
 public:
  Values(const std::string& content, const std::string& path) : path_(path) {
    base::TextReader lines(content);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) parse_line(line, number);
  }

  double read_number(const char* name) const {
    const auto result = values_.find(name);
    if (result == values_.end()) base::throw_argument_error(path_, " has no ", name);
    double value = 0;
    const std::string& text_value = result->second.text_value;
    const auto [end, error] = std::from_chars(text_value.data(), text_value.data() + text_value.size(), value);
    if (error != std::errc() || end != text_value.data() + text_value.size())
      base::throw_argument_error(path_, ", line ", result->second.line, ": ", name, " is ", text_value,
                                 ", and a number was expected");
    return value;
  }

  /// Returns a text in quotes, or nothing if the name is missing.
  std::optional<std::string> read_quoted(const char* name) const {
    const auto result = values_.find(name);
    if (result == values_.end()) return std::nullopt;
    const std::string& text_value = result->second.text_value;
    if (text_value.size() < 2 || text_value.front() != '"' || text_value.find('"', 1) != text_value.size() - 1)
      base::throw_argument_error(path_, ", line ", result->second.line, ": ", name, " is ", text_value,
                                 ", and a text in quotes was expected");
    return text_value.substr(1, text_value.size() - 2);
  }

  int line_number(const char* name) const { return values_.at(name).line; }

 private:
  struct Value {
    std::string text_value;
    int line;
  };

  void parse_line(std::string_view line, int number) {
    line = strip(line);
    if (line.empty() || line.front() == '#') return;
    const std::size_t equals_sign = line.find('=');
    std::string_view value = equals_sign == std::string_view::npos ? "" : strip(line.substr(equals_sign + 1));
    const bool in_quotes = !value.empty() && value.front() == '"';
    const std::size_t comment = value.find('#', in_quotes ? value.find('"', 1) : 0);
    if (comment != std::string_view::npos) value = strip(value.substr(0, comment));
    if (value.empty())
      base::throw_argument_error(path_, ", line ", number, ": \"", line, "\" is not of the form name = value");
    values_[std::string(strip(line.substr(0, equals_sign)))] = {std::string(value), number};
  }

  std::string path_;
  std::map<std::string, Value> values_;
};

/// Returns the name of this host, which is looked up once, because programs open many files; empty if it has none.
const std::string& host_name() {
  static const auto& name = *new std::string([] {
    std::array<char, HOST_NAME_MAX + 1> result{};
    return ::gethostname(result.data(), result.size() - 1) == 0 ? std::string(result.data()) : std::string();
  }());
  return name;
}

/// Returns the name that the processor reports; empty if unknown.
std::string processor_name() {
#if defined(__x86_64__)
  // Three leaves of CPUID, 0x80000002 to 0x80000004, have 16 characters of the name each.
  unsigned max_leaf = 0;
  std::array<unsigned, 12> registers{};
  unsigned unused = 0;
  if (__get_cpuid(0x80000000, &max_leaf, &unused, &unused, &unused) == 0 || max_leaf < 0x80000004) return {};
  for (unsigned part = 0; part < 3; ++part)
    __get_cpuid(0x80000002 + part, &registers[part * 4], &registers[part * 4 + 1], &registers[part * 4 + 2],
                &registers[part * 4 + 3]);
  std::array<char, sizeof registers + 1> name{};
  std::memcpy(name.data(), registers.data(), sizeof registers);
  std::string result(strip(name.data()));
#else
  std::ifstream file("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1");
  std::string result;
  std::getline(file, result);
#endif
  std::erase_if(result, [](char c) { return c == '"' || c == '\\' || c < ' '; });
  return result;
}

/// Maximum size of such a file.
constexpr std::streamsize kMaxFileBytes = 1 << 16;

/// Returns the content of a file, or nothing if the file does not exist.
std::optional<std::string> read_if_exists(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string content(kMaxFileBytes, '\0');
  file.read(content.data(), kMaxFileBytes);
  content.resize(static_cast<std::size_t>(file.gcount()));
  return content;
}

/// Reads the file that PLAIT_MODEL names.  errors  kArgument.
std::shared_ptr<const CostModel> read_named_costs(const std::string& path) {
  const std::string prefix = text("PLAIT_MODEL=", path, ": ");
  const std::string remedy =
      "; name a file that `plait model calibrate` has written, use \"builtin\" for the built-in constants, or unset it";
  const std::optional<std::string> content = read_if_exists(path);
  if (!content) base::throw_argument_error(prefix, "the file cannot be read", remedy);
  try {
    return std::make_shared<const CostModel>(parse_costs(*content, path, {}, /*must_match_machine=*/false));
  } catch (const Error& error) {
    base::throw_argument_error(prefix, error.what(), remedy);
  }
}

/// Reads this host's file. Returns nullptr if there is none, or if it cannot be used; then prints a warning.
std::shared_ptr<const CostModel> read_host_costs(const std::string& path) {
  const std::optional<std::string> content = read_if_exists(path);
  if (!content) return nullptr;
  try {
    return std::make_shared<const CostModel>(parse_costs(*content, path, this_machine(), /*must_match_machine=*/true));
  } catch (const Error& error) {
    std::fprintf(
        stderr,
        "plait: %s; so the built-in constants of the cost model are used; run `plait model calibrate` again, or "
        "remove the file by `plait model calibrate --reset`\n",
        error.what());
    return nullptr;
  }
}

}  // namespace

Machine this_machine() {
  Machine result;
  result.host = host_name();
  result.processor = processor_name();
  result.cores = ::sysconf(_SC_NPROCESSORS_CONF);
  return result;
}

CostModel parse_costs(const std::string& content, const std::string& path, const Machine& machine,
                      bool must_match_machine) {
  const Values values(content, path);
  if (const double version = values.read_number("version"); version != static_cast<double>(kCostsVersion))
    base::throw_argument_error(path, " is of version ", version, ", and this Plait uses version ", kCostsVersion,
                               "; measure again with `plait model calibrate`");
  CostModel model;
  model.source = path;
  for (const plan::CostTerm& term : plan::kCostTerms) {
    const double value = values.read_number(term.name);
    if (!(value >= term.minimum && value <= term.maximum))
      base::throw_argument_error(path, ", line ", values.line_number(term.name), ": ", term.name, " is ", value,
                                 ", and a number from ", term.minimum, " to ", term.maximum, " was expected");
    model.*term.value = value;
  }
  if (!must_match_machine) return model;
  const std::string processor = values.read_quoted("processor").value_or("");
  if (processor != machine.processor)
    base::throw_argument_error(path, " was measured on another processor (", processor, ", and this is ",
                               machine.processor, ")");
  if (const double cores = values.read_number("cores"); cores != static_cast<double>(machine.cores))
    base::throw_argument_error(path, " was measured with ", cores, " cores, and this host has ", machine.cores);
  return model;
}

std::string costs_path() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* user = std::getenv("HOME");
  std::string folder;
  // The XDG base directory specification requires relative paths to be ignored.
  if (cache != nullptr && *cache == '/') {
    folder = cache;
  } else if (user != nullptr && *user == '/') {
    folder = text(user, "/.cache");
  } else {
    return {};
  }
  std::string host = host_name();
  if (host.empty()) return {};
  std::replace(host.begin(), host.end(), '/', '_');
  return text(folder, "/plait/model/", host, ".toml");
}

std::shared_ptr<const CostModel> costs_here() {
  const char* setting = std::getenv("PLAIT_MODEL");
  const bool is_named = setting != nullptr && *setting != '\0';
  if (is_named && std::string_view(setting) == "builtin") return nullptr;
  const std::string path = is_named ? std::string(setting) : costs_path();
  if (path.empty()) return nullptr;
  static std::mutex mutex;
  // Never destroyed: threads may open files until the very end of the process.
  static auto& known_costs = *new std::map<std::pair<bool, std::string>, std::shared_ptr<const CostModel>>;
  const std::lock_guard lock(mutex);
  const auto known = known_costs.find({is_named, path});
  if (known != known_costs.end()) return known->second;
  const std::shared_ptr<const CostModel> costs = is_named ? read_named_costs(path) : read_host_costs(path);
  return known_costs.emplace(std::pair(is_named, path), costs).first->second;
}

}  // namespace plait::core
