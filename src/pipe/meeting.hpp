/// Where programs find each other by name: files in a folder that both see.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.hpp"
#include "transport/host/meeting_files.hpp"
#include "transport/native/endpoints.hpp"
#include "transport/native/key.hpp"

namespace plait::pipe {

/// What a writer tells of itself.
struct Invitation {
  transport::native::Endpoints endpoints;
  transport::native::Key key;
  std::string who;  ///< for people
};

using transport::host::meeting_folder;

/// errors  kArgument: a name that makes no file name.
void check_pipe_name(std::string_view name, std::string_view shown);

/// The file of a writer, which only its user reads.  It holds a lock as long as the writer lives, so that what a killed
/// one has left behind is known by its lock being free.
class MeetingFile {
 public:
  /// Takes a name.
  /// errors  kSystem: EADDRINUSE where another writer has it, who is told; no permission, no room, no locks there.
  MeetingFile(const std::string& name, const Invitation& invitation);
  ~MeetingFile();
  MeetingFile(const MeetingFile&) = delete;
  MeetingFile& operator=(const MeetingFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  base::Descriptor file_;
};

/// What the writer of a name tells; nothing where there is none, or one that has ended.
/// errors  kSystem: the file cannot be read, is damaged, or is another user's; there are no locks there.
std::optional<Invitation> find_invitation(const std::string& name);

/// The same of a file without a lock: what a killed writer has left, or one whose lock cannot be seen from here.
std::optional<Invitation> find_unlocked_invitation(const std::string& name);

/// The names that have a writer.
std::vector<std::string> meeting_names();

/// Who this process is, for people: `python3 (process 4711 on node7)`.
std::string this_program();

struct Program {
  std::string name;
  std::int64_t process = 0;
  std::string host;
};

/// What this_program() of another process has said.  All of it is the name where it is something else.
Program parse_program(const std::string& who);

}  // namespace plait::pipe
