/// What launchers tell the processes of a job.
#pragma once

#include <optional>
#include <string>

namespace plait::base {

/// A process's place in a job of several.
struct JobPlace {
  std::string job;  ///< the same for all that one launch started, on this host at least, and different for others
  int rank = 0;
};

/// Nothing where no launcher started this process, or one of its parents, together with others.
std::optional<JobPlace> job_place();

}  // namespace plait::base
