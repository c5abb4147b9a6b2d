/// Processes of one host that were started together without MPI.
#pragma once

#include <optional>
#include <string>

namespace plait::transport::local {

struct Job {
  std::string name;  ///< of the file by which they find each other
  int size = 1;
  int rank = 0;
};

inline constexpr int kMostProcesses = 4096;

/// What `plait run`, or a user by hand, has put into PLAIT_JOB, PLAIT_SIZE and PLAIT_RANK; nothing where no size is
/// set.
/// errors  kArgument: one of them is missing, no number, out of range, or no name of a file.
std::optional<Job> job_of_environment();

}  // namespace plait::transport::local
