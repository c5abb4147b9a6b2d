/// The figures of a program of 1992 from which the events of its workload, a synthetic trace, are generated.
#pragma once

#include <cstdint>
#include <string_view>

#include "plait/workloads.hpp"

namespace plait::trace {

/// One program.  Sizes are in bytes, times in us.  A *cycle* is the pattern that a program repeats (Workload::cycles):
/// a burst of requests, then a long computation.
struct Spec {
  Workload about;  ///< the figures of the paper
  std::int64_t reads;
  std::int64_t writes;
  std::int64_t read_bytes;
  std::int64_t write_bytes;
  int files;                 ///< number of data files
  std::int64_t file_writes;  ///< requests that write one data file completely
  int stages;                ///< stages of a cycle: each reads a part of the data, then writes one
  int burst;                 ///< thousandths of a cycle's CPU time during which its requests are made
  int jitter;                ///< thousandths by which the time between two requests varies
  int empty_interval = 0;    ///< one of this many blocks of the data is empty and not read; 0: none
  bool interleaved = false;  ///< true if requests alternate between the files; false if they access one after the other
  bool asynchronous = false;
  bool solid_state = false;  ///< on the solid-state disk: the process keeps its processor while it waits
  /// For programs without cycles: number of writes between start and end; the rest is written at the end.
  std::int64_t writes_in_between = 0;

  std::int64_t cpu() const { return std::int64_t{1'000'000} * about.seconds; }
  std::int64_t file_bytes() const { return file_writes * write_bytes; }
};

/// Finds a workload.
/// errors  kArgument: an unknown workload; the text names all.
const Spec& find_spec(std::string_view name);

}  // namespace plait::trace
