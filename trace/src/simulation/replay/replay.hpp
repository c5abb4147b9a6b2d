/// Programs with their requests on processors, through a cache, to a device, on a virtual clock.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "simulation/replay/future.hpp"
#include "simulation/replay/outcome.hpp"
#include "simulation/replay/processors.hpp"
#include "simulation/replay/request_cursor.hpp"
#include "simulation/replay/settings.hpp"

namespace plait::simulation {

/// Each program computes as in its trace and makes its requests. Their times follow from the settings. Source: E. L.
/// Miller, "Input/Output Behavior of Supercomputing Applications" (1992), section 6.1.
/// cost     O(blocks that are used), and O(log events) for each request that waits.
/// memory   in proportion to the cache, the files, the programs and operations in progress; not to the length of the
/// traces.
/// threads  one at a time; several replays of one recording at once.
class Replay final : private OperationHost, private ProcessorHost, private Timer {
 public:
  /// errors  kArgument: settings, see ReplaySettings::check().
  Replay(const Recording& recording, const ReplaySettings& settings);

  /// Runs the replay.
  /// progress  receives the fraction of requests that were made, 0 to 1, from time to time; an exception that it
  /// throws ends the replay.
  ReplayOutcome run(const std::function<void(double)>& progress = {});

 private:
  struct Process {
    RequestCursor cursor;
    Request request;
    Time request_start = 0;                    // time at which the current request was made
    Time waiting_since = 0;                    // time since which it waits
    std::int64_t awaited_operations = 0;       // number of operations that it waits for
    std::int64_t asynchronous_operations = 0;  // number of asynchronous operations in progress
    bool waits_for_all = false;                // true if it waits for all asynchronous operations
    bool pausing = false;
    bool hit = false;
    ProcessOutcome outcome;
  };

  void operation_ended(const DeviceRequest& request) override;
  void wake(std::uint64_t token) override;
  Time on_computed(std::uint32_t process) override;
  void on_idle(Time from, Time to) override { outcome_.idle_time.add_span(from, to); }
  void fire(std::uint64_t token) override;

  Time count_processor_time(Process& process);
  Time fetch_next_request(std::uint32_t index);
  bool make_request(std::uint32_t index);
  bool submit_transfer(std::uint32_t index);
  bool wait_recorded_time(std::uint32_t index);
  bool wait_for_asynchronous(Process& process);
  bool wait_for_needed(std::uint32_t index);
  void complete(Process& process);
  bool enter_barrier(std::uint32_t index);
  void leave_barrier(std::uint32_t index);
  bool release_stuck();
  void continue_process(std::uint32_t index);
  void report_progress();

  const Recording& recording_;
  ReplaySettings settings_;
  EventQueue clock_;
  Operations operations_;
  std::vector<std::int64_t> extents_;
  FilePlacement placement_;
  std::unique_ptr<Device> device_;
  BufferCache cache_;
  std::unique_ptr<Future> future_;  // used if the policy looks ahead
  Processors processors_;
  std::vector<Process> processes_;
  std::vector<std::uint32_t> arrived_;                  // number of programs that have arrived, for each group
  std::vector<std::vector<std::uint32_t>> waiting_at_;  // processes that wait, for each group
  std::size_t ended_ = 0;
  std::size_t waiting_at_barriers_ = 0;  // number of processes that wait for others of a collective operation
  Time last_operation_ = 0;              // end of the last operation
  std::int64_t requests_made_ = 0;       // number of requests made
  std::function<void(double)> progress_;
  ReplayOutcome outcome_;
};

}  // namespace plait::simulation
