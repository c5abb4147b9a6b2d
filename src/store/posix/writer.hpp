/// Ranks of one job that write a file of the same name, each alone.
#pragma once

#include <string>

namespace plait::store::posix {

/// Marks a new file, open as `file`, as that of this rank of a job, where it belongs to one of several ranks, and looks
/// whether another rank of the job is writing, or has written, a file of that name without a communicator: then the
/// ranks replace each other's work, as a rule for want of one.
///
/// The mark is an extended attribute.  Where the file system has none, that is said once, by ranks other than 0.
/// temporary  the new file's own path; those of others in its folder begin with `beginning`
/// target     the file that will be replaced
/// errors     kArgument: another rank; names it, and `shown`.
void claim(int file, const std::string& temporary, const std::string& beginning, const std::string& target,
           const std::string& shown);

/// What the attribute of the mark is called.
inline constexpr const char* kWriterMark = "user.plait.writer";

}  // namespace plait::store::posix
