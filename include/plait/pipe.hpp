/// The state of pipes, for programs that neither write nor read them.  File::open opens `pipe:NAME` itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plait/file.hpp"
#include "plait/step.hpp"

namespace plait {

/// The program at one end of a pipe.
struct PipeProgram {
  std::string name;            ///< name of the program, as the system reports it
  std::int64_t process = 0;    ///< process id of its rank 0
  std::string host;            ///< host on which rank 0 runs
  std::int64_t processes = 1;  ///< number of its ranks
};

struct PipeReader {
  PipeProgram program;
  std::int64_t next_step = 0;  ///< number of the first step that it has not read completely
};

/// An array of the newest step.
struct PipeVariable {
  std::string name;
  ArrayType type;
  std::string layout;  ///< the layout in which the writer's ranks hold it, as text
};

/// The programs at a pipe, its queue and its newest step, at one moment.
struct PipeStatus {
  std::string name;
  std::string folder;  ///< folder in which the two programs find each other
  PipeProgram writer;
  ArrayType type;  ///< type of the array that the pipe was opened for
  std::vector<PipeReader> readers;
  std::int64_t steps = 0;               ///< number of steps written so far
  std::int64_t queued = 0;              ///< number of steps in the queue now
  std::int64_t queue = 0;               ///< maximum number of steps in the queue
  std::int64_t dropped = 0;             ///< number of steps dropped unread, if the name has drop=oldest
  std::int64_t bytes = 0;               ///< bytes of the arrays of all steps so far
  std::optional<std::int64_t> newest;   ///< the number of the newest step; empty if there has been none
  Attributes attributes;                ///< attributes of the newest step
  std::vector<PipeVariable> variables;  ///< the arrays of the newest step
};

/// Asks the writer of the pipe `url`, `pipe:NAME`, for its state, without becoming a reader.  Not collective.  Waits
/// for the answer as long as timeout= in the name states, at most ten seconds, but does not wait for a writer to open
/// the pipe.
/// errors  kSystem: no program writes to the pipe (ENOENT); the writer cannot be reached or does not answer.
///         kArgument: the name is not that of a pipe.
PipeStatus pipe_status(const std::string& url);

/// Returns the names of the pipes that have a writer, in the folder in which the programs of this user find each other.
/// Not collective.
/// errors  kSystem, kArgument: the folder does not exist, or other users may read it.
std::vector<std::string> pipe_names();

}  // namespace plait
