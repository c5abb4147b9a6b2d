// Parses names of arrays on the ranks' own disks. Example: `distant:a%20b?folder=/disk&unit=64K` has the path `a b`,
// the folder `/disk` and stripes of 65536 bytes.

#include "driver/distant/distant_name.hpp"

#include <cstdlib>
#include <filesystem>

#include "base/errors.hpp"
#include "store/url.hpp"

namespace plait::driver::distant {

namespace {

namespace fs = std::filesystem;

bool parse_striped(const std::string& value, const std::string& url) {
  if (value == "true") return true;
  if (value == "false") return false;
  base::throw_argument_error(url, ": striped=", value,
                             " was given; use striped=true or striped=false, or leave it out");
}

}  // namespace

Name parse_name(const std::string& url) {
  const auto fail = [&url](const auto&... why) { base::throw_argument_error(url, ": ", why...); };
  const store::Url parsed = store::parse_url(url, kScheme, "distant:field?folder=/var/tmp");
  Name name;
  name.path = parsed.path;
  for (const store::UrlOption& option : parsed.options) {
    if (option.key == "folder") {
      name.folder = store::unescaped(option.value, url);
      if (name.folder.empty()) fail("folder= is empty; give the folder that exists on each rank's own disk");
    } else if (option.key == "unit") {
      name.unit = store::parse_bytes_option(option, url);
    } else if (option.key == "striped") {
      name.striped = parse_striped(option.value, url);
    } else {
      fail("the option \"", option.key, "\" is not known; use folder=, unit= and striped=, separated by &");
    }
  }
  if (!name.folder.empty() && fs::path(name.path).is_absolute())
    fail("folder=", name.folder, " was given, but ", name.path,
         " is an absolute path; leave out folder=, or give a name alone");
  return name;
}

std::string resolve_path(const Name& name) {
  std::string folder = name.folder;
  if (const char* setting = std::getenv("PLAIT_DISTANT_FOLDER"); folder.empty() && setting != nullptr) folder = setting;
  return fs::absolute(fs::path(folder) / name.path).lexically_normal().string();
}

}  // namespace plait::driver::distant
