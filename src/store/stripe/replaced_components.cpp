#include "store/stripe/replaced_components.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "store/stripe/components.hpp"

namespace plait::store::stripe {

ReplacedComponents::ReplacedComponents(const std::string& temporary, const std::string& target)
    : basename_(std::filesystem::path(target).filename().string()),
      second_name_(temporary + "-old" + kTemporarySuffix) {
  if (::link(target.c_str(), second_name_.c_str()) == 0) {
    // Because of the lock, remove_stale() in other processes does not remove a file that this one still needs.
    lock_ = posix::Descriptor(::open(second_name_.c_str(), O_RDONLY | O_CLOEXEC));
    ::flock(lock_.number(), LOCK_EX | LOCK_NB);
  } else {  // some file systems have no hard links
    second_name_.clear();
  }
  try {
    description_ = find_description(second_name_.empty() ? target : second_name_);
  } catch (...) {  // remove() then leaves the components
  }
}

ReplacedComponents::~ReplacedComponents() {
  if (!second_name_.empty()) ::unlink(second_name_.c_str());
}

void ReplacedComponents::remove() noexcept {
  if (!description_) return;
  // The old description has lost the name `target`. If it has another one besides second_name_ (a further hard link),
  // its components are still in use.
  struct stat status{};
  if (!second_name_.empty() && (::fstat(lock_.number(), &status) != 0 || status.st_nlink != 1)) return;
  remove_components(*description_, basename_);
}

}  // namespace plait::store::stripe
