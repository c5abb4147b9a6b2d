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

/// Returns the folders with links followed.
std::vector<fs::path> folders(const std::vector<std::string>& paths) {
  std::vector<fs::path> result;
  std::error_code error;
  for (const std::string& path : paths) {
    const fs::path whole = fs::canonical(path, error);
    result.push_back(error ? fs::absolute(path).lexically_normal() : whole);
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
void compare(const Name& name, const Description& found) {
  const auto fail = [&](const auto&... what) {
    base::throw_argument_error(name.display_name(), what..., " was given; leave it out or correct it");
  };
  if (name.unit != 0 && name.unit != found.unit) fail(" has stripes of ", found.unit, " bytes, but unit=", name.unit);
  if (name.disks.empty()) return;
  std::vector<std::string> used;
  for (const std::string& component : found.components) used.push_back(fs::path(component).parent_path().string());
  const std::vector<fs::path> has = folders(used);
  const std::vector<fs::path> stated = folders(name.disks);
  if (has != stated) fail(" is stored on the disks ", list_text(has), ", but disks=", list_text(stated));
}

struct FoundStripes {
  Description description;
  std::unique_ptr<StripedStore> store;
};

FoundStripes find_striped(const Name& name, StripedStore::Access access) {
  Description found = store::stripe::read_description(name.path, name.display_name());
  while (true) {
    try {
      store::stripe::check_components(found, name.display_name());
      auto opened = std::make_unique<StripedStore>(found, access, name.display_name());
      return {std::move(found), std::move(opened)};
    } catch (const Error&) {
      // The file may have been replaced meanwhile, and the components of the old one removed: try the new description.
      Description current = store::stripe::read_description(name.path, name.display_name());
      if (current == found) throw;
      found = std::move(current);
    }
  }
}

/// Returns the description at a path; nothing if there is none or it cannot be read. find_striped() reports the reason.
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

class ReplacedFile : public FileDriver::ReplacementCleanup {
 public:
  ReplacedFile(const std::string& temporary, const std::string& target) : old_(temporary, target) {}
  void remove() noexcept override { old_.remove(); }

 private:
  store::stripe::ReplacedComponents old_;
};

class StripeDriver : public FileDriver {
 public:
  std::string_view prefix() const override { return store::stripe::kScheme; }
  Contents contents() const override { return Contents::kRaw; }

  store::OpenLocation find(const std::string& url, bool writable) const override {
    const Name name = store::stripe::parse_name(url);
    FoundStripes found = find_striped(name, to_access(writable));
    compare(name, found.description);
    return {{fs::absolute(name.path).string(), found.description.to_text(), found.store->identities()},
            std::move(found.store)};
  }
  std::unique_ptr<store::Store> open(const store::Location& location, bool writable) const override {
    const std::string shown = "stripe:" + location.path;
    auto opened =
        std::make_unique<StripedStore>(store::stripe::parse(location.details, shown), to_access(writable), shown);
    store::expect_same_files(location, opened->identities(), shown);
    return opened;
  }
  bool is_replaced(const std::string& url, const store::Location& opened) const override {
    Name name = store::stripe::parse_name(url);
    name.path = opened.path;
    return !store::may_be_same_files(opened, find_striped(name, StripedStore::Access::kRead).store->identities());
  }
  std::unique_ptr<store::NewFile> create(const std::string& url, const store::NewFileOptions& options) const override {
    return make_new_file(url, options);
  }
  ResolvedName locate(const std::string& url) const override {
    const Name name = store::stripe::parse_name(url);
    ResolvedName found;
    found.kind = base::text(container::raw::format().traits().kind, " in a striped file");
    found.name = url;
    found.path = real_path(name.path);
    found.states_type = false;
    found.supports_unfinished = true;
    if (const auto description = readable_description(name.path)) {
      found.unit = description->unit;
      for (const std::string& component : description->components)
        found.components.push_back(component_file(component));
    }
    return found;
  }
  std::vector<std::string> sibling_files(const std::string& path) const override {
    auto description = readable_description(path);
    return description ? std::move(description->components) : std::vector<std::string>();
  }

  bool recognizes(store::Store& file) const override { return store::stripe::holds_description(file); }
  std::string_view stands_for() const override { return "describe a striped file"; }
  std::string make_name(const std::string& path) const override { return stripe_url(path); }
  bool clear(const std::string& leftover, const std::string& target) const noexcept override {
    return store::stripe::remove_leftover(leftover, target);
  }
  std::unique_ptr<ReplacementCleanup> replacing(const store::posix::Replacement& file) const override {
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
