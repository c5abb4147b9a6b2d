/// What launchers tell the processes of a job.
#pragma once

#include <optional>
#include <string>

namespace plait::base {

/// A process's rank in a job of several.
struct JobRank {
  std::string job;  ///< the same for all that one launch started, on this host at least, and different for others
  int rank = 0;
};

/// Nothing where no launcher started this process, or one of its parents, together with others.
std::optional<JobRank> job_rank();

/// When this process began, in seconds since 1970 by the clock of this host, to some hundredths; 0 where the system
/// does not say.  All processes of a job began before any of them wrote a file; those of a later job that has the same
/// number, as schedulers and containers give, began after.
double process_began();

}  // namespace plait::base
