/// Programs that ran and recorded nothing, from the names that the recorder left of them (base/events/format.h).
///
/// `unrecorded:+s /bin/busybox` says that a statically linked program ran, and the same with `-` that it did not run
/// after all: its exec failed.  Two of the first and one of the second are one run.
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
  /// Counts the run that a name stands for.  false: it is the name of a file.
  bool take(std::string_view name);
  /// Appends one entry for each program and reason, the programs that ran most often first.  Returns the runs in all.
  std::int64_t describe(std::vector<Missed>& missed) const;

 private:
  std::map<std::pair<std::string, char>, std::int64_t> runs_;  ///< by path and letter of the reason
};

}  // namespace plait::trace::binary
