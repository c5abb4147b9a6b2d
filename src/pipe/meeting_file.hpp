/// Meeting files: files in a common folder through which the programs of a pipe find each other by its name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.hpp"
#include "base/host/meeting_files.hpp"
#include "transport/native/endpoints.hpp"
#include "transport/native/key.hpp"

namespace plait::pipe {

/// The content of a meeting file: how to connect to a writer.
struct Invitation {
  transport::native::Endpoints endpoints;
  transport::native::Key key;
  std::string program;  ///< a description of the program, as this_program() returns it
};

using base::host::meeting_folder;

/// Checks the name of a pipe.  `url` is the URL for errors.
/// errors  kArgument: the name cannot be a file name.
void check_pipe_name(std::string_view name, std::string_view url);

/// The meeting file of a writer, readable by its user only.  The writer holds a lock on the file, which ends with its
/// process; a file without a lock is recognized as that of a killed writer.
class MeetingFile {
 public:
  /// Registers the name of a pipe.
  /// errors  kSystem: EADDRINUSE if another writer has the name, and which one; no permission, no space, no locks.
  MeetingFile(const std::string& name, const Invitation& invitation);
  ~MeetingFile();
  MeetingFile(const MeetingFile&) = delete;
  MeetingFile& operator=(const MeetingFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  base::Descriptor file_;
};

/// Returns the invitation of the writer of a name; nothing if there is no writer, or if it has ended.
/// errors  kSystem: the file cannot be read, is damaged or belongs to another user; the file system has no locks.
std::optional<Invitation> find_invitation(const std::string& name);

/// Returns the invitation in a meeting file without a visible lock: its writer was killed, or runs on a host whose
/// locks are not visible on this host.  Returns nothing if there is no such file.
std::optional<Invitation> find_unlocked_invitation(const std::string& name);

/// Returns the names of pipes that have a writer, sorted.
std::vector<std::string> meeting_names();

/// Describes this process, as in `python3 (process 4711 on node7)`.
std::string this_program();

/// A process in its parts, as this_program() describes it.
struct Program {
  std::string name;
  std::int64_t process = 0;
  std::string host;
};

/// Parses the text of this_program().  A text of another form becomes the name.
Program parse_program(const std::string& program);

}  // namespace plait::pipe
