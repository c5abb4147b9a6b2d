#include "base/files/folder.hpp"

#include <dirent.h>

#include <cerrno>
#include <memory>

namespace plait::base {

std::vector<std::string> names_in(const std::string& folder, std::error_code& error) {
  struct Close {
    void operator()(DIR* open) const { ::closedir(open); }
  };
  std::vector<std::string> names;
  const std::unique_ptr<DIR, Close> open(::opendir(folder.empty() ? "." : folder.c_str()));
  error.clear();
  if (!open) error.assign(errno, std::generic_category());
  while (open) {
    errno = 0;
    const dirent* const entry = ::readdir(open.get());
    if (entry == nullptr) {
      error.assign(errno, std::generic_category());
      break;
    }
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  return names;
}

}  // namespace plait::base
