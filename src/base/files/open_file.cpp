#include "base/files/open_file.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/errors.hpp"
#include "base/text.hpp"

namespace plait::base {

Error system_error(const std::string& what, int code) {
  return Error(ErrorKind::kSystem, text("cannot ", what, ": ", std::strerror(code)), code);
}

Descriptor open_file(const std::string& path, int flags, unsigned mode, const std::string& shown) {
  while (true) {
    const int number = ::open(path.c_str(), flags | O_CLOEXEC, mode);
    if (number >= 0) return Descriptor(number);
    if (errno == EINTR) continue;
    const int code = errno;
    std::string hint;
    if (code == ENOENT) {
      std::error_code ignored;
      const std::filesystem::path folder = std::filesystem::path(path).parent_path();
      if (!folder.empty() && !std::filesystem::exists(folder, ignored)) {
        hint = text("; the folder ", folder.string(), " does not exist");
      } else if ((flags & (O_CREAT | O_TMPFILE)) != 0) {
        hint = "; no file can be made there; choose another folder";
      } else if ((flags & O_ACCMODE) == O_RDONLY) {
        hint = "; check the name";
      } else {
        hint = "; check the name, or use mode \"w\" to make a new file";
      }
    } else if (code == EISDIR) {
      hint = "; give the name of a file";
    } else if (code == ENOTDIR) {
      hint = "; a part of the name that should be a folder is a file";
    } else if (code == EACCES || code == EPERM || code == EROFS) {
      hint = (flags & O_ACCMODE) == O_RDONLY ? "; reading it is not permitted" : "; writing it is not permitted";
    }
    const Error plain = system_error(text("open ", shown.empty() ? path : shown), code);
    throw_system_error(code, plain.what(), hint);
  }
}

}  // namespace plait::base
