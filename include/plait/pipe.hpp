/// Pipes as somebody sees who neither writes nor reads them.  `pipe:NAME` is a name for File::open.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plait/file.hpp"
#include "plait/step.hpp"

namespace plait {

/// One end of a pipe.
struct PipeProgram {
  std::string name;            ///< of the program, as the system has it
  std::int64_t process = 0;    ///< the number of its process of rank 0
  std::string host;            ///< where that runs
  std::int64_t processes = 1;  ///< its ranks
};

struct PipeReader {
  PipeProgram program;
  std::int64_t next_step = 0;  ///< that it has not read whole
};

/// An array of the newest step.
struct PipeVariable {
  std::string name;
  ArrayType type;
  std::string layout;  ///< in which the writer's ranks hold it
};

/// Who is there and what flows, at one moment.
struct PipeStatus {
  std::string name;
  std::string folder;  ///< in which programs meet
  PipeProgram writer;
  ArrayType type;  ///< of the array that the pipe was opened for
  std::vector<PipeReader> readers;
  std::int64_t steps = 0;              ///< that have been written
  std::int64_t held = 0;               ///< of them, in the queue
  std::int64_t queue = 0;              ///< that it holds at most
  std::int64_t dropped = 0;            ///< unread, by drop=oldest
  std::int64_t bytes = 0;              ///< of the arrays of all steps so far
  std::optional<std::int64_t> newest;  ///< the number of the newest step; none: there has been none
  Attributes attributes;               ///< of the newest step
  std::vector<PipeVariable> variables;
};

/// Asks the writer of a pipe, `pipe:NAME`, without becoming a reader.  Not collective.  Waits for its answer for as long
/// as timeout= says, ten seconds at most, and not for a writer to come.
/// errors  kSystem: ENOENT where nobody writes to it; the writer cannot be reached or does not answer.
///         kArgument: a name that cannot be.
PipeStatus pipe_status(const std::string& url);

/// The names of the pipes that have a writer, in the folder where the programs of this user meet.  Not collective.
/// errors  kSystem, kArgument: there is no such folder, or others may look into it.
std::vector<std::string> pipe_names();

}  // namespace plait
