/// Synthetic traces: the I/O of seven supercomputer programs as E. L. Miller's paper of 1992 describes it.
///
/// The original traces are lost.  Tables 1 and 2 of the paper and its sections 3, 5 and 6 remain.  A workload is a
/// generated trace with those figures. docs/guides/workloads.md explains the choice of the other parameters.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "plait/trace.hpp"

namespace plait::trace {

/// One workload, with the figures of the paper, except for two corrected errors (the sizes of upw and venus in table 1
/// are swapped, and upw writes ten times what table 2 prints).
struct Workload {
  std::string_view name;
  std::string_view field;    ///< the problem that the program computes
  std::string_view pattern;  ///< how it reads and writes
  int seconds;               ///< of CPU time
  double data_mb;            ///< size of all files in MiB; upw: not given in the paper, about as much as it writes
  double total_mb;           ///< MiB moved
  std::int64_t requests;
  double read_mb;  ///< MiB per CPU second, as the next one
  double write_mb;
  double reads;  ///< per CPU second, as the next one
  double writes;
  double request_kb;  ///< mean size, in KiB
  double ratio;       ///< bytes read divided by bytes written
  int cycles;         ///< repetitions of one pattern; 0: none
  double period;      ///< CPU seconds of a cycle, data_mb / write_mb; 0: none
};

/// Returns all seven workloads.
std::span<const Workload> workloads();

/// Parameters of a workload.
struct WorkloadOptions {
  std::uint64_t seed = 1;  ///< seed of the variation of gaps between requests, lengths of cycles, starts of copies
  int copies = 1;          ///< programs that run at the same time, each with files of its own, up to 4096
  std::int64_t offset =
      kUnknown;   ///< ns from the start of a copy to that of the next; kUnknown: within a cycle, by seed
  int burst = 0;  ///< thousandths of a cycle in which its requests are made; 0: the workload's own
};

/// Returns a workload as a trace.  Equal arguments give equal events on every machine.
/// memory   some KiB per copy; events are generated as they are read.
/// errors  kArgument: no such workload, or an option out of its range.
std::unique_ptr<Reader> workload(std::string_view name, const WorkloadOptions& options = {});

/// Returns a workload by name: `workload:venus`, `workload:venus?seed=2&copies=4&offset=1.5&burst=200`, with the offset
/// in seconds. open_trace() accepts such names as well.  errors  As above; kArgument: an unknown word in the name.
std::unique_ptr<Reader> open_workload(std::string_view url);
/// True for names that open_workload() accepts.
bool is_workload(std::string_view url);

}  // namespace plait::trace
