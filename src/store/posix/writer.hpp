/// Detects ranks of one job that each write a file of the same name without a communicator.
#pragma once

#include <string>

namespace plait::store::posix {

/// Marks a new file, open as `file`, with this rank, if the process belongs to a job of several ranks (base/job.hpp).
/// Then checks if another rank of the job is writing, or has written, a file of that name without a communicator: the
/// ranks would replace each other's files, usually because the caller forgot to pass a communicator.
///
/// The mark is an extended attribute. If the file system does not support these, ranks other than 0 print one warning.
/// temporary: the path of the new file; the names of other temporary files in its folder begin with `beginning`.
/// target: the file that will be replaced.
/// errors  kArgument: another rank writes the file; the message states that rank and `display_name`.
void claim(int file, const std::string& temporary, const std::string& beginning, const std::string& target,
           const std::string& display_name);

/// Name of the attribute.
inline constexpr const char* kWriterMark = "user.plait.writer";

}  // namespace plait::store::posix
