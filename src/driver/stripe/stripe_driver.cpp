// Opens striped files. The file under the name is a small description, which lists the component files on the disks.

#include "driver/stripe/stripe_driver.hpp"

#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/raw/raw_format.hpp"
#include "driver/stripe/new_striped_file.hpp"
#include "plait/disks.hpp"
#include "plait/error.hpp"
#include "store/posix/posix_store.hpp"
#include "store/posix/replacement.hpp"
#include "store/stripe/components.hpp"
#include "store/stripe/replaced_components.hpp"
#include "store/stripe/stripe_description.hpp"
#include "store/stripe/stripe_name.hpp"
#include "store/stripe/striped_store.hpp"

namespace plait::driver::stripe {

namespace fs = std::filesystem;
using store::stripe::Description;
using store::stripe::Name;
using store::stripe::StripedStore;

namespace {

/// Returns the paths with links followed.
std::vector<fs::path> canonical_folders(const std::vector<std::string>& paths) {
  std::vector<fs::path> result;
  std::error_code error;
  for (const std::string& path : paths) {
    const fs::path canonical = fs::canonical(path, error);
    result.push_back(error ? fs::absolute(path).lexically_normal() : canonical);
  }
  return result;
}

std::string list_text(const std::vector<fs::path>& paths) {
  std::string result;
  for (const fs::path& path : paths) {
    if (!result.empty()) result += ',';
    result += path.string();
  }
  return result;
}

/// Checks that the options of a name agree with the description.
void check_options_match(const Name& name, const Description& description) {
  const auto fail = [&](const auto&... what) {
    base::throw_argument_error(name.display_name(), what..., " was given; leave it out or correct it");
  };
  if (name.unit != 0 && name.unit != description.unit)
    fail(" has stripes of ", description.unit, " bytes, but unit=", name.unit);
  if (name.disks.empty()) return;
  std::vector<std::string> used;
  for (const std::string& component : description.components)
    used.push_back(fs::path(component).parent_path().string());
  const std::vector<fs::path> actual_disks = canonical_folders(used);
  const std::vector<fs::path> stated_disks = canonical_folders(name.disks);
  if (actual_disks != stated_disks)
    fail(" is stored on the disks ", list_text(actual_disks), ", but disks=", list_text(stated_disks));
}

/// A striped file that is open.
struct OpenStripedFile {
  Description description;
  std::unique_ptr<StripedStore> store;
};

/// Opens an existing striped file. Repeats if another program replaces it meanwhile.
OpenStripedFile open_striped_file(const Name& name, StripedStore::Access access) {
  Description description = store::stripe::read_description(name.path, name.display_name());
  while (true) {
    try {
      store::stripe::check_components(description, name.display_name());
      auto opened = std::make_unique<StripedStore>(description, access, name.display_name());
      return {std::move(description), std::move(opened)};
    } catch (const Error&) {
      // The file may have been replaced meanwhile, and the components of the old one removed: try the new description.
      Description current = store::stripe::read_description(name.path, name.display_name());
      if (current == description) throw;
      description = std::move(current);
    }
  }
}

/// Returns the description at a path; empty if there is none or it cannot be read. open_striped_file() reports the
/// reason.
std::optional<Description> readable_description(const std::string& path) {
  try {
    return store::stripe::find_description(path);
  } catch (const Error&) {
    return std::nullopt;
  }
}

StripedStore::Access to_access(bool writable) {
  return writable ? StripedStore::Access::kReadWrite : StripedStore::Access::kRead;
}

/// The component files of a striped file that a new file replaces.
class ReplacedFile : public FileDriver::ReplacementCleanup {
 public:
  ReplacedFile(const std::string& temporary, const std::string& target) : components_(temporary, target) {}
  void remove() noexcept override { components_.remove(); }

 private:
  store::stripe::ReplacedComponents components_;
};

/// The driver of `stripe:NAME`.
class StripeDriver : public FileDriver {
 public:
  std::string_view prefix() const override { return store::stripe::kScheme; }
  Contents contents() const override { return Contents::kRaw; }

  store::OpenLocation find(const std::string& url, bool writable) const override {
    const Name name = store::stripe::parse_name(url);
    OpenStripedFile file = open_striped_file(name, to_access(writable));
    check_options_match(name, file.description);
    return {{fs::absolute(name.path).string(), file.description.to_text(), file.store->identities()},
            std::move(file.store)};
  }
  std::unique_ptr<store::Store> open(const store::Location& location, bool writable) const override {
    const std::string display_name = "stripe:" + location.path;
    auto opened = std::make_unique<StripedStore>(store::stripe::parse(location.details, display_name),
                                                 to_access(writable), display_name);
    store::expect_same_files(location, opened->identities(), display_name);
    return opened;
  }
  bool is_replaced(const std::string& url, const store::Location& opened) const override {
    Name name = store::stripe::parse_name(url);
    name.path = opened.path;
    return !store::may_be_same_files(opened, open_striped_file(name, StripedStore::Access::kRead).store->identities());
  }
  std::unique_ptr<store::NewFile> create(const std::string& url, const store::NewFileOptions& options) const override {
    return make_new_file(url, options);
  }
  ResolvedName locate(const std::string& url) const override {
    const Name name = store::stripe::parse_name(url);
    ResolvedName resolved;
    resolved.kind = base::text(container::raw::format().traits().kind, " in a striped file");
    resolved.name = url;
    resolved.path = real_path(name.path);
    resolved.states_type = false;
    resolved.supports_unfinished = true;
    if (const auto description = readable_description(name.path)) {
      resolved.unit = description->unit;
      for (const std::string& component : description->components)
        resolved.components.push_back(component_file(component));
    }
    return resolved;
  }
  std::vector<std::string> sibling_files(const std::string& path) const override {
    auto description = readable_description(path);
    return description ? std::move(description->components) : std::vector<std::string>();
  }

  bool recognizes(store::Store& file) const override { return store::stripe::holds_description(file); }
  std::string_view content_description() const override { return "describe a striped file"; }
  std::string make_name(const std::string& path) const override { return stripe_url(path); }
  bool release_leftover(const std::string& leftover, const std::string& target) const noexcept override {
    return store::stripe::remove_leftover(leftover, target);
  }
  std::unique_ptr<ReplacementCleanup> prepare_cleanup(const store::posix::Replacement& file) const override {
    if (!store::stripe::looks_like_description(file.target_path())) return nullptr;
    return std::make_unique<ReplacedFile>(file.temporary_path(), file.target_path());
  }
};

}  // namespace

const FileDriver& driver() {
  static const StripeDriver kDriver;
  return kDriver;
}

}  // namespace plait::driver::stripe
