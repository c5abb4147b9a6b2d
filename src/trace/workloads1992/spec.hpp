/// The figures of a workload from which its events are made.
#pragma once

#include <cstdint>
#include <string_view>

#include "plait/workloads.hpp"

namespace plait::trace {

/// Sizes in bytes, times in us.
struct Spec {
  Workload about;
  std::int64_t reads;
  std::int64_t writes;
  std::int64_t read_bytes;
  std::int64_t write_bytes;
  int files;                 ///< data files
  std::int64_t file_writes;  ///< requests that write one of them whole
  int stages;                ///< in which a cycle goes through the data: each reads a part, then writes one
  int burst;                 ///< thousandths of a cycle's CPU time in which its requests lie
  int jitter;                ///< thousandths by which the time between two requests varies
  int empty = 0;             ///< every so-manieth block of the data is empty and left out when reading; 0: none
  bool interleaved = false;  ///< requests go around the files; otherwise through one after the other
  bool asynchronous = false;
  bool solid = false;  ///< on the solid-state disk: the process keeps its processor while it waits
  /// Of programs without cycles: what is written along the way; the rest is written at the end.
  std::int64_t trickle = 0;

  std::int64_t cpu() const { return std::int64_t{1'000'000} * about.seconds; }
  std::int64_t file_bytes() const { return file_writes * write_bytes; }
};

/// errors  kArgument: no such workload; names them all.
const Spec& find_spec(std::string_view name);

}  // namespace plait::trace
