/// Files in a common folder through which the programs of a pipe find each other.
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

/// How to connect to a writer.
struct Invitation {
  transport::native::Endpoints endpoints;
  transport::native::Key key;
  std::string who;  ///< a description of the program, for messages
};

using base::host::meeting_folder;

/// Checks the name of a pipe.  `shown` is the URL for errors.
/// errors  kArgument: the name cannot be a file name.
void check_pipe_name(std::string_view name, std::string_view shown);

/// The file of a writer, readable by its user only.  The writer holds a lock on it, so that the file of a killed writer
/// is recognized: it has no lock.
class MeetingFile {
 public:
  /// Registers a name.
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

/// Returns the invitation in a file without a visible lock: its writer was killed, or runs on a host whose locks are
/// not visible here.
std::optional<Invitation> find_unlocked_invitation(const std::string& name);

/// Returns the names of pipes that have a writer, sorted.
std::vector<std::string> meeting_names();

/// Describes this process, as in `python3 (process 4711 on node7)`.
std::string this_program();

struct Program {
  std::string name;
  std::int64_t process = 0;
  std::string host;
};

/// Parses the text of this_program().  A text of another form becomes the name.
Program parse_program(const std::string& who);

}  // namespace plait::pipe
