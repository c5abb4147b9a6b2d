/// Counts programs that ran and recorded nothing, by the names that the recorder wrote (base/events/format.h).
///
/// `unrecorded:+s /bin/busybox` states that a statically linked program ran.  The same name with `-` cancels one of
/// them, because exec failed.  Example: two names with `+` and one with `-` are one run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plait/trace.hpp"

namespace plait::trace::binary {

class UnrecordedPrograms {
 public:
  /// Counts the run that a name describes; false if it is the name of a file.
  bool count_run(std::string_view name);
  /// Appends one entry for each program and reason, in descending order of runs.  Returns the total number of runs.
  std::int64_t describe(std::vector<MissedCalls>& missed) const;

 private:
  std::map<std::pair<std::string, char>, std::int64_t> runs_;  ///< key: path, and letter of the reason
};

}  // namespace plait::trace::binary
