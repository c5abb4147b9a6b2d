/// The information that launchers pass to the processes of a job.
#pragma once

#include <optional>
#include <string>

namespace plait::base {

/// The rank of a process in a job of several processes.
struct JobRank {
  /// Identifies the launch. It is equal for all processes of a launch, at least on this host, and differs between
  /// launches.
  std::string job;
  int rank = 0;
};

/// Returns the job and the rank of this process; nullopt if no launcher started this process, or one of its parents,
/// together with others.
std::optional<JobRank> job_rank();

/// Returns the start time of this process in seconds since 1970, by the clock of this host, to some hundredths; 0 if
/// the system does not provide it. All processes of a job start before any of them writes a file; processes of a later
/// job with the same number, which schedulers and containers reuse, start after that. So the time tells files of
/// the two jobs apart.
double process_start_time();

}  // namespace plait::base
