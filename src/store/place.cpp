#include "store/place.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/text.hpp"
#include "plait/error.hpp"
#include "store/posix/posix_store.hpp"
#include "store/stripe/components.hpp"
#include "store/stripe/description.hpp"
#include "store/stripe/name.hpp"
#include "store/stripe/striped_store.hpp"

namespace plait::store {

namespace fs = std::filesystem;

namespace {

/// The folders, with links followed.
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

/// What a name says beyond NAME must be what the description says.
void compare(const stripe::Name& name, const stripe::Description& found) {
  const auto refuse = [&](const auto&... what) {
    throw Error(ErrorKind::kArgument, base::text(name.shown(), what..., " was given; leave it out or correct it"));
  };
  if (name.unit != 0 && name.unit != found.unit) refuse(" has stripes of ", found.unit, " bytes, but unit=", name.unit);
  if (name.disks.empty()) return;
  std::vector<std::string> used;
  for (const std::string& component : found.components) used.push_back(fs::path(component).parent_path().string());
  const std::vector<fs::path> has = folders(used);
  const std::vector<fs::path> given = folders(name.disks);
  if (has != given) refuse(" lies on the disks ", list_text(has), ", but disks=", list_text(given));
}

stripe::Description find_striped(const stripe::Name& name) {
  stripe::Description found = stripe::read_description(name.path, name.shown());
  while (true) {
    try {
      stripe::check_components(found, name.shown());
      return found;
    } catch (const Error&) {
      // Replaced in between: the components of the old one have just gone.
      stripe::Description again = stripe::read_description(name.path, name.shown());
      if (again == found) throw;
      found = std::move(again);
    }
  }
}

posix::PosixStore::Access access_of(bool writable) {
  return writable ? posix::PosixStore::Access::kReadWrite : posix::PosixStore::Access::kRead;
}

}  // namespace

Place find_place(const std::string& url, bool writable) {
  if (!stripe::is_name(url)) {
    const posix::PosixStore there(url, access_of(writable));
    return {fs::absolute(url).string(), {}};
  }
  const stripe::Name name = stripe::parse_name(url);
  const stripe::Description found = find_striped(name);
  compare(name, found);
  return {fs::absolute(name.path).string(), found.to_text()};
}

std::unique_ptr<Store> open_place(const Place& place, bool writable) {
  const auto access = access_of(writable);
  if (place.description.empty()) return std::make_unique<posix::PosixStore>(place.path, access);
  const std::string shown = place.url();
  return std::make_unique<stripe::StripedStore>(stripe::parse(place.description, shown), access, shown);
}

}  // namespace plait::store
