/// The processes of one host that were started together without MPI.
#pragma once

#include <optional>
#include <string>

namespace plait::transport::local {

struct Job {
  std::string name;  ///< the same for all processes: they find each other by a file of this name
  int size = 1;
  int rank = 0;
};

/// Maximum value of PLAIT_SIZE.
inline constexpr int kMaxProcesses = 4096;

/// Returns the values of PLAIT_JOB, PLAIT_SIZE and PLAIT_RANK, which `plait run` or a user has set; nothing if no size
/// is set.
/// errors  kArgument: one of them is missing, not a number, out of range, or not a file name.
std::optional<Job> job_from_environment();

}  // namespace plait::transport::local
