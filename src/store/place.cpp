#include "store/place.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <sstream>
#include <vector>

#include "base/text.hpp"
#include "plait/error.hpp"
#include "store/posix/posix_store.hpp"
#include "store/stripe/components.hpp"
#include "store/stripe/description.hpp"
#include "store/stripe/name.hpp"
#include "store/stripe/striped_store.hpp"
#include "store/url.hpp"

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

struct FoundStripes {
  stripe::Description description;
  std::unique_ptr<stripe::StripedStore> store;
};

FoundStripes find_striped(const stripe::Name& name, posix::PosixStore::Access access) {
  stripe::Description found = stripe::read_description(name.path, name.shown());
  while (true) {
    try {
      stripe::check_components(found, name.shown());
      auto opened = std::make_unique<stripe::StripedStore>(found, access, name.shown());
      return {std::move(found), std::move(opened)};
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

void expect_same(const std::vector<posix::Identity>& expected, const std::vector<posix::Identity>& found,
                 const std::string& shown) {
  if (expected.empty() || std::ranges::equal(expected, found, posix::same_file)) return;
  throw Error(ErrorKind::kSystem,
              base::text("cannot open ", shown,
                         ": ranks find different files under this name; use a name that leads all ranks to one file, "
                         "and wait for programs that replace it"),
              ESTALE);
}

}  // namespace

std::string Place::packed() const {
  std::ostringstream out;
  out << files.size();
  for (const posix::Identity& file : files) out << ' ' << file;
  out << ' ' << path.size() << '\n' << path << description;
  return out.str();
}

Place Place::unpacked(const std::string& packed) {
  Place result;
  std::istringstream in(packed);
  std::size_t count = 0;
  std::size_t path_length = 0;
  in >> count;
  result.files.resize(count);
  for (posix::Identity& file : result.files) in >> file;
  in >> path_length;
  const std::size_t begin = packed.find('\n') + 1;
  result.path = packed.substr(begin, path_length);
  result.description = packed.substr(begin + path_length);
  return result;
}

FoundPlace find_place(const std::string& url, bool writable) {
  if (!stripe::is_name(url)) {
    const std::string path = ordinary_path(url);
    auto opened = std::make_unique<posix::PosixStore>(path, access_of(writable));
    Place place{fs::absolute(path).string(), {}, {opened->identity()}};
    return {std::move(place), std::move(opened)};
  }
  const stripe::Name name = stripe::parse_name(url);
  FoundStripes found = find_striped(name, access_of(writable));
  compare(name, found.description);
  return {{fs::absolute(name.path).string(), found.description.to_text(), found.store->identities()},
          std::move(found.store)};
}

std::unique_ptr<Store> open_place(const Place& place, bool writable) {
  const auto access = access_of(writable);
  if (place.description.empty()) {
    auto opened = std::make_unique<posix::PosixStore>(place.path, access);
    expect_same(place.files, {opened->identity()}, place.path);
    return opened;
  }
  const std::string shown = place.url();
  auto opened = std::make_unique<stripe::StripedStore>(stripe::parse(place.description, shown), access, shown);
  expect_same(place.files, opened->identities(), shown);
  return opened;
}

}  // namespace plait::store
