// The description of a striped file, the text that its name refers to.
//
// Example: 200,000 bytes in stripes of 64 KiB on two disks. The number of bytes is padded to 19 characters, so that the
// text keeps its length when the file is resized.
//    plait stripes 1
//    unit 65536
//    bytes              200000
//    id 5f3a
//    component /mnt/a/field.bin.stripe0-5f3a
//    component /mnt/b/field.bin.stripe1-5f3a
//    end

#include "store/stripe/stripe_description.hpp"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string_view>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "plait/error.hpp"
#include "store/posix/posix_store.hpp"
#include "store/stripe/stripe_name.hpp"

namespace plait::store::stripe {

namespace {

constexpr std::string_view kMagic = "plait stripes ";
constexpr int kVersion = 1;
/// Maximum size of a description in bytes: enough for the maximum number of components with the longest paths.
constexpr std::int64_t kMaxTextBytes = std::int64_t{8} << 20;

/// The lines of a description, each of which begins with a keyword.
class Lines {
 public:
  Lines(std::string_view text, const std::string& display_name) : remaining_(text), display_name_(display_name) {}

  /// Reads the next line and returns its text after `keyword`.
  /// errors  kSystem: the next line has another keyword, or there is none.
  std::string_view take_value(std::string_view keyword) {
    const std::size_t end = remaining_.find('\n');
    ++line_number_;
    if (end == std::string_view::npos) fail_damaged(base::text("it ends in line ", line_number_));
    std::string_view line = remaining_.substr(0, end);
    remaining_.remove_prefix(end + 1);
    if (!line.starts_with(keyword))
      fail_damaged(base::text("line ", line_number_, " does not begin with \"", keyword, '"'));
    line.remove_prefix(keyword.size());
    while (line.starts_with(' ')) line.remove_prefix(1);
    return line;
  }
  /// Like take_value(), for a number of at least `min`.
  std::int64_t take_number(std::string_view keyword, std::int64_t min) {
    const std::string_view digits = take_value(keyword);
    std::int64_t result = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result);
    if (error != std::errc() || end != digits.data() + digits.size() || result < min)
      fail_damaged(base::text("line ", line_number_, " has no number of at least ", min));
    return result;
  }
  bool next_begins_with(std::string_view keyword) const { return remaining_.starts_with(keyword); }
  bool is_done() const { return remaining_.empty(); }

  [[noreturn]] void fail_damaged(const std::string& why) const {
    base::throw_system_error(EBADMSG, "cannot open ", display_name_, ": its description is damaged: ", why,
                             "; restore the description, or write the striped file again");
  }

 private:
  std::string_view remaining_;
  const std::string& display_name_;
  int line_number_ = 0;
};

}  // namespace

std::int64_t Description::component_bytes(std::size_t component) const {
  const auto count = static_cast<std::int64_t>(components.size());
  const auto number = static_cast<std::int64_t>(component);
  const std::int64_t whole_stripes = bytes / unit;  // the last stripe may be shorter
  const std::int64_t stripes = whole_stripes / count + (number < whole_stripes % count ? 1 : 0);
  return stripes * unit + (number == whole_stripes % count ? bytes % unit : 0);
}

std::string Description::to_text() const {
  constexpr int kMaxDigits = 19;  // of a 64-bit number
  std::string out = base::text(kMagic, kVersion, "\nunit ", unit, "\nbytes ",
                               base::aligned_right(base::text(bytes), kMaxDigits), "\nid ", id, '\n');
  for (const std::string& component : components) base::append_parts(out, "component ", component, '\n');
  return out + "end\n";
}

Description parse(const std::string& text, const std::string& display_name) {
  Lines lines(text, display_name);
  if (!lines.next_begins_with(kMagic))
    base::throw_system_error(EINVAL, "cannot open ", display_name, ": ",
                             display_name.substr(display_name.find(':') + 1),
                             " is not the description of a striped file; open an ordinary file without stripe:");
  const std::int64_t version = lines.take_number(kMagic, 1);
  if (version > kVersion)
    base::throw_system_error(EPROTONOSUPPORT, "cannot open ", display_name, ": its description is of version ", version,
                             ", but this Plait knows version ", kVersion, " only; use a newer Plait");
  Description result;
  result.unit = lines.take_number("unit ", 1);
  result.bytes = lines.take_number("bytes ", 0);
  result.id = lines.take_value("id ");
  if (result.id.empty()) lines.fail_damaged("the id is missing");
  while (lines.next_begins_with("component ")) {
    result.components.emplace_back(lines.take_value("component "));
    if (result.components.back().empty()) lines.fail_damaged("a component has no name");
  }
  if (!lines.take_value("end").empty() || !lines.is_done()) lines.fail_damaged("there is more text after its end");
  if (result.components.empty()) lines.fail_damaged("it names no component file");
  if (result.components.size() > kMaxDisks)
    lines.fail_damaged(
        base::text("it names ", result.components.size(), " component files; at most ", kMaxDisks, " are supported"));
  return result;
}

namespace {

posix::PosixStore open_for_reading(const std::string& path) { return {path, posix::PosixStore::Access::kRead}; }

/// Returns the first bytes of a file, at most `max_bytes`.
std::string read_head(Store& store, std::int64_t max_bytes) {
  std::string text(static_cast<std::size_t>(std::min(store.size(), max_bytes)), '\0');
  store.read({{0, reinterpret_cast<std::byte*>(text.data()), static_cast<std::int64_t>(text.size())}});
  return text;
}

}  // namespace

Description read_description(Store& store, const std::string& path, const std::string& display_name) {
  // An ordinary file may be large, so read its beginning first.
  Description result = parse(holds_description(store) ? read_head(store, kMaxTextBytes) : "", display_name);
  std::error_code error;
  const std::filesystem::path canonical = std::filesystem::canonical(path, error);
  const std::filesystem::path folder = (error ? std::filesystem::absolute(path) : canonical).parent_path();
  for (std::string& component : result.components) component = (folder / component).string();
  return result;
}

Description read_description(const std::string& path, const std::string& display_name) {
  posix::PosixStore store = open_for_reading(path);
  return read_description(store, path, display_name);
}

std::optional<Description> find_description(const std::string& path) {
  try {
    posix::PosixStore store = open_for_reading(path);
    if (holds_description(store)) return read_description(store, path, path);
  } catch (const Error& error) {
    if (error.system_code() != ENOENT) throw;
  }
  return std::nullopt;
}

bool holds_description(Store& store) { return read_head(store, kMagic.size()) == kMagic; }

bool looks_like_description(const std::string& path) noexcept {
  try {
    posix::PosixStore store = open_for_reading(path);
    return holds_description(store);
  } catch (...) {
    return false;
  }
}

std::string component_name(const std::string& basename, std::size_t component, const std::string& id) {
  return base::text(basename, ".stripe", component, '-', id);
}

bool is_component(const std::string& path, const std::string& basename, std::size_t component, const std::string& id) {
  return !id.empty() && std::filesystem::path(path).filename() == component_name(basename, component, id);
}

std::string new_id() {
  std::uint64_t number = 0;
  while (::getrandom(&number, sizeof number, 0) != sizeof number) {  // a signal may interrupt it
  }
  return base::hexadecimal_text(number);
}

}  // namespace plait::store::stripe
