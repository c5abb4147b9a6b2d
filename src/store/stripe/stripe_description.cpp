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
constexpr std::int64_t kMaxText = std::int64_t{8} << 20;

/// The lines of a description, each of which begins with a keyword.
class Lines {
 public:
  Lines(std::string_view text, const std::string& shown) : rest_(text), shown_(shown) {}

  /// Returns the text after `word`.  errors  kSystem: the next line has another keyword, or there is none.
  std::string_view value(std::string_view word) {
    const std::size_t end = rest_.find('\n');
    ++number_;
    if (end == std::string_view::npos) damaged(base::text("it ends in line ", number_));
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    if (!line.starts_with(word)) damaged(base::text("line ", number_, " does not begin with \"", word, '"'));
    line.remove_prefix(word.size());
    while (line.starts_with(' ')) line.remove_prefix(1);
    return line;
  }
  std::int64_t number(std::string_view word, std::int64_t min) {
    const std::string_view digits = value(word);
    std::int64_t result = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result);
    if (error != std::errc() || end != digits.data() + digits.size() || result < min)
      damaged(base::text("line ", number_, " has no number of at least ", min));
    return result;
  }
  bool at(std::string_view word) const { return rest_.starts_with(word); }
  bool done() const { return rest_.empty(); }

  [[noreturn]] void damaged(const std::string& why) const {
    base::throw_system_error(EBADMSG, "cannot open ", shown_, ": its description is damaged: ", why,
                             "; restore the description, or write the striped file again");
  }

 private:
  std::string_view rest_;
  const std::string& shown_;
  int number_ = 0;
};

}  // namespace

std::int64_t Description::component_bytes(std::size_t component) const {
  const auto count = static_cast<std::int64_t>(components.size());
  const auto number = static_cast<std::int64_t>(component);
  const std::int64_t whole = bytes / unit;
  const std::int64_t stripes = whole / count + (number < whole % count ? 1 : 0);
  return stripes * unit + (number == whole % count ? bytes % unit : 0);
}

std::string Description::to_text() const {
  std::string out = base::text(kMagic, kVersion, "\nunit ", unit, "\nbytes ",
                               base::aligned_right(base::text(bytes), 19), "\nid ", id, '\n');
  for (const std::string& component : components) base::append_parts(out, "component ", component, '\n');
  return out + "end\n";
}

Description parse(const std::string& text, const std::string& shown) {
  Lines lines(text, shown);
  if (!lines.at(kMagic))
    base::throw_system_error(EINVAL, "cannot open ", shown, ": ", shown.substr(shown.find(':') + 1),
                             " is not the description of a striped file; open an ordinary file without stripe:");
  const std::int64_t version = lines.number(kMagic, 1);
  if (version > kVersion)
    base::throw_system_error(EPROTONOSUPPORT, "cannot open ", shown, ": its description is of version ", version,
                             ", but this Plait knows version ", kVersion, " only; use a newer Plait");
  Description result;
  result.unit = lines.number("unit ", 1);
  result.bytes = lines.number("bytes ", 0);
  result.id = lines.value("id ");
  if (result.id.empty()) lines.damaged("the id is missing");
  while (lines.at("component ")) {
    result.components.emplace_back(lines.value("component "));
    if (result.components.back().empty()) lines.damaged("a component has no name");
  }
  if (!lines.value("end").empty() || !lines.done()) lines.damaged("there is more text after its end");
  if (result.components.empty()) lines.damaged("it names no component file");
  if (result.components.size() > kMaxDisks)
    lines.damaged(
        base::text("it names ", result.components.size(), " component files; at most ", kMaxDisks, " are supported"));
  return result;
}

namespace {

posix::PosixStore open_to_look(const std::string& path) { return {path, posix::PosixStore::Access::kRead}; }

std::string read_head(Store& store, std::int64_t max_bytes) {
  std::string text(static_cast<std::size_t>(std::min(store.size(), max_bytes)), '\0');
  store.read({{0, reinterpret_cast<std::byte*>(text.data()), static_cast<std::int64_t>(text.size())}});
  return text;
}

}  // namespace

Description description_in(Store& store, const std::string& path, const std::string& shown) {
  // An ordinary file may be large, so read its beginning first.
  Description result = parse(holds_description(store) ? read_head(store, kMaxText) : "", shown);
  std::error_code error;
  const std::filesystem::path canonical = std::filesystem::canonical(path, error);
  const std::filesystem::path folder = (error ? std::filesystem::absolute(path) : canonical).parent_path();
  for (std::string& component : result.components) component = (folder / component).string();
  return result;
}

Description read_description(const std::string& path, const std::string& shown) {
  posix::PosixStore store = open_to_look(path);
  return description_in(store, path, shown);
}

std::optional<Description> description_at(const std::string& path) {
  try {
    posix::PosixStore store = open_to_look(path);
    if (holds_description(store)) return description_in(store, path, path);
  } catch (const Error& error) {
    if (error.system_code() != ENOENT) throw;
  }
  return std::nullopt;
}

bool holds_description(Store& store) { return read_head(store, kMagic.size()) == kMagic; }

bool looks_like_description(const std::string& path) noexcept {
  try {
    posix::PosixStore store = open_to_look(path);
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
  while (::getrandom(&number, sizeof number, 0) != sizeof number) {
  }
  return base::hexadecimal_text(number);
}

}  // namespace plait::store::stripe
