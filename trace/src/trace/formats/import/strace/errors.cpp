#include <array>
#include <cerrno>
#include <utility>

#include "trace/formats/import/strace/line.hpp"

namespace plait::trace::strace {

std::int64_t error_number(std::string_view name) {
  using Pair = std::pair<std::string_view, int>;
  // The errors of calls on files and descriptors.
  static constexpr std::array kErrors{
      Pair{"EPERM", EPERM},
      Pair{"ENOENT", ENOENT},
      Pair{"EINTR", EINTR},
      Pair{"EIO", EIO},
      Pair{"ENXIO", ENXIO},
      Pair{"EBADF", EBADF},
      Pair{"ECHILD", ECHILD},
      Pair{"EAGAIN", EAGAIN},
      Pair{"ENOMEM", ENOMEM},
      Pair{"EACCES", EACCES},
      Pair{"EFAULT", EFAULT},
      Pair{"EBUSY", EBUSY},
      Pair{"EEXIST", EEXIST},
      Pair{"EXDEV", EXDEV},
      Pair{"ENODEV", ENODEV},
      Pair{"ENOTDIR", ENOTDIR},
      Pair{"EISDIR", EISDIR},
      Pair{"EINVAL", EINVAL},
      Pair{"ENFILE", ENFILE},
      Pair{"EMFILE", EMFILE},
      Pair{"ENOTTY", ENOTTY},
      Pair{"ETXTBSY", ETXTBSY},
      Pair{"EFBIG", EFBIG},
      Pair{"ENOSPC", ENOSPC},
      Pair{"ESPIPE", ESPIPE},
      Pair{"EROFS", EROFS},
      Pair{"EMLINK", EMLINK},
      Pair{"EPIPE", EPIPE},
      Pair{"ERANGE", ERANGE},
      Pair{"EDEADLK", EDEADLK},
      Pair{"ENAMETOOLONG", ENAMETOOLONG},
      Pair{"ENOSYS", ENOSYS},
      Pair{"ENOTEMPTY", ENOTEMPTY},
      Pair{"ELOOP", ELOOP},
      Pair{"ENODATA", ENODATA},
      Pair{"EOVERFLOW", EOVERFLOW},
      Pair{"EILSEQ", EILSEQ},
      Pair{"ENOTSOCK", ENOTSOCK},
      Pair{"EOPNOTSUPP", EOPNOTSUPP},
      Pair{"ENOTSUP", ENOTSUP},
      Pair{"ECONNRESET", ECONNRESET},
      Pair{"ENOTCONN", ENOTCONN},
      Pair{"ETIMEDOUT", ETIMEDOUT},
      Pair{"ECONNREFUSED", ECONNREFUSED},
      Pair{"EINPROGRESS", EINPROGRESS},
      Pair{"ESTALE", ESTALE},
      Pair{"EDQUOT", EDQUOT},
      Pair{"ECANCELED", ECANCELED},
      Pair{"ERESTARTSYS", EINTR},
      Pair{"ERESTARTNOINTR", EINTR},
  };
  for (const auto& [error_name, number] : kErrors)
    if (error_name == name) return -number;
  return -1;
}

}  // namespace plait::trace::strace
