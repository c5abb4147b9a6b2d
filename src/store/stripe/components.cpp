#include "store/stripe/components.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/errors.hpp"
#include "base/text.hpp"

namespace plait::store::stripe {

namespace {

/// Makes an error from what could not be done, the text of the error number `code`, and a hint what to do.
Error make_error(const std::string& what, int code, const char* hint) {
  return Error(ErrorKind::kSystem, base::text(what, ": ", std::strerror(code), hint), code);
}

std::string base_name(const std::string& path) { return std::filesystem::path(path).filename().string(); }

}  // namespace

void check_disks(const std::vector<std::string>& disks, const std::string& display_name) {
  for (const std::string& disk : disks) {
    struct stat status{};
    int code = 0;
    if (::stat(disk.c_str(), &status) != 0)
      code = errno;
    else if (!S_ISDIR(status.st_mode))
      code = ENOTDIR;
    if (code != 0)
      throw make_error(base::text("cannot write ", display_name, " to the disk ", disk), code,
                       "; give folders that exist, or make this one");
  }
}

std::vector<posix::Descriptor> make_components(const Description& description, const posix::Attributes& attributes,
                                               const std::string& basename, const std::string& display_name) {
  std::vector<posix::Descriptor> files;
  try {
    for (std::size_t i = 0; i < description.components.size(); ++i) {
      const std::string& path = description.components[i];
      files.emplace_back(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
      const int file = files.back().number();
      const std::string name = base::text("the component file ", path, " of ", display_name);
      if (file < 0) throw make_error("cannot make " + name, errno, "; give disks that can be written");
      attributes.apply(file, name);
      posix::reserve(file, description.component_bytes(i), name);
    }
  } catch (...) {
    remove_components(description, basename);
    throw;
  }
  return files;
}

void check_components(const Description& description, const std::string& display_name) {
  const std::size_t count = description.components.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::string name = base::text("component file ", i + 1, " of ", count, ", ", description.components[i]);
    struct stat status{};
    if (::stat(description.components[i].c_str(), &status) != 0)
      throw make_error(base::text("cannot open ", display_name, ": its ", name), errno,
                       "; restore it, or write the striped file again");
    if (!S_ISREG(status.st_mode))
      throw make_error(base::text("cannot open ", display_name, ": its ", name), EINVAL, ", it is not a regular file");
    if (status.st_size != description.component_bytes(i))
      base::throw_system_error(
          EBADMSG, "cannot open ", display_name, ": its ", name, " has ", status.st_size, " bytes, but should have ",
          description.component_bytes(i),
          status.st_size < description.component_bytes(i) ? "; it has been truncated" : "; it has been changed");
  }
}

void remove_components(const Description& description, const std::string& basename) noexcept {
  for (std::size_t i = 0; i < description.components.size(); ++i)
    if (is_component(description.components[i], basename, i, description.id))
      ::unlink(description.components[i].c_str());
}

bool remove_leftover(const std::string& leftover, const std::string& target) noexcept {
  if (!leftover.ends_with(kTemporarySuffix)) return true;
  try {
    struct stat status{};
    if (::stat(leftover.c_str(), &status) != 0) return false;
    // The description has another name (hard link), under which its components are in use.
    if (status.st_nlink != 1) return true;
    const std::optional<Description> left_description = find_description(leftover);
    if (!left_description) return true;  // the process was killed before it had made components
    const std::optional<Description> current = find_description(target);
    if (!current || current->id != left_description->id) remove_components(*left_description, base_name(target));
    return true;
  } catch (...) {
    return false;  // a description that cannot be read now may be in use
  }
}

}  // namespace plait::store::stripe
