/// Analysis of a trace in one pass.
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
  /// Level of the counted requests; none: logical if the trace has logical reads and writes.
  std::optional<bool> logical;
  bool cpu = false;                      ///< true for CPU time instead of wall time
  std::string file;                      ///< counts only files whose names match this shell pattern; empty: all
  std::vector<std::string> include;      ///< patterns of files that count although they are foreign
  std::vector<std::string> exclude;      ///< patterns of files that do not count
  bool all = false;                      ///< true if foreign files count too (filter.hpp)
  std::optional<std::uint32_t> process;  ///< counts only this process
  /// Receives the bytes read and the bytes in all (0: unknown) from time to time. It may throw to end the analysis.
  std::function<void(std::int64_t, std::int64_t)> progress;
};

/// Reads the rest of a trace and returns its report.
/// errors  those of the reader; kArgument: CPU time is requested and the trace has none.
/// memory  bounded: about 30 MiB, and about ten bytes a name, 30 an open, 150 a process.
/// cost    about 0.3 us an event.
Report analyse(Reader& reader, const Options& options = {});

}  // namespace plait::trace::report
