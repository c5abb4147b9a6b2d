/// Reading a trace once and telling what it means.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plait/trace.hpp"
#include "trace/report/report.hpp"

namespace plait::trace::report {

struct Options {
  std::optional<bool> logical;       ///< the level that counts; none: logical where the trace has such reads and writes
  bool cpu = false;                  ///< the clock that counts: CPU time instead of wall time
  std::string file;                  ///< only files whose names this pattern of the shell matches; empty: all
  std::vector<std::string> include;  ///< patterns of files that count although they are foreign
  std::vector<std::string> exclude;  ///< patterns of files that do not count
  bool all = false;                  ///< foreign files count too (filter.hpp)
  std::optional<std::uint32_t> process;  ///< only this process
  /// Told the bytes read and in all (0: not known), now and then; it may throw to end the reading.
  std::function<void(std::int64_t, std::int64_t)> progress;
};

/// Reads what is left of a trace.  errors  the reader's; kArgument: CPU time is asked for and the trace has none.
/// memory  bounded: some 30 MiB, and some ten bytes a name, 30 an open, 150 a process.
/// cost    some 0.3 us an event.
Report analyse(Reader& reader, const Options& options = {});

}  // namespace plait::trace::report
