/// The requests of processes and the computing between them, taken from traces: the input of a replay.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "plait/trace.hpp"
#include "simulation/replay/request_spool.hpp"

namespace plait::simulation {

/// Counts of unusual events in the traces.
struct TraceOddities {
  std::int64_t overlapping = 0;   ///< synchronous requests that began before their predecessor had ended
  std::int64_t backwards = 0;     ///< CPU times below an earlier one of their process
  std::int64_t empty = 0;         ///< requests of no bytes
  std::int64_t failed = 0;        ///< requests that failed
  std::int64_t beyond = 0;        ///< ignored requests, longer than kMaxRequestBytes or ending after kMaxRequestEnd
  std::int64_t without_time = 0;  ///< requests of unknown duration
  /// Ignored events at times beyond kMaxTime, and intervals with which the sum of all times would exceed kMaxTotalTime.
  std::int64_t far = 0;
  std::int64_t incomplete = 0;  ///< truncated traces
  std::int64_t missed = 0;      ///< events that happened but are in no trace
  std::int64_t counted = 0;     ///< counters of processes: calls that were only counted
};

/// The requests of one thread of a process, which makes them one after the other.
struct Program {
  std::uint32_t trace = 0;
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
  std::int64_t rank = -1;
  std::string command;
  Time start = 0;  ///< since the first event of the trace
  Time end = 0;    ///< end of the last event
  /// True if the replay makes the requests that the programs of its trace made; false: those that reached devices.
  bool logical = true;
  std::vector<std::size_t> chunks;  ///< numbers of the chunks of its requests in Recording::spool()
};

/// A file, or an unnamed object that a process opened. Each trace has files of its own.
struct RecordedFile {
  std::string name;
  std::int64_t extent = 0;  ///< end of the last request in bytes
  bool is_stream = false;   ///< true for a pipe, a socket or a terminal, whose data is on no device
};

/// The programs, files and requests of all traces.
/// cost     one pass over each trace.
/// memory   for each file, process and thread, and about 80 bytes for each collective operation; requests are in a
/// spool.
/// threads  one at a time while traces are added, then any number.
class Recording {
 public:
  /// Adds the processes of a trace.
  /// progress  receives the bytes read and the bytes in all
  /// errors    those of the reader.
  void add(trace::Reader& reader, const std::function<void(std::int64_t, std::int64_t)>& progress = {});

  const std::vector<Program>& programs() const noexcept { return programs_; }
  const std::vector<RecordedFile>& files() const noexcept { return files_; }
  const TraceOddities& oddities() const noexcept { return oddities_; }
  /// The number of programs that take part in each group; with 0 or 1 no program waits.
  const std::vector<std::uint32_t>& groups() const noexcept { return groups_; }
  const RequestSpool& spool() const noexcept { return spool_; }
  std::int64_t requests() const noexcept { return requests_; }
  std::int64_t bytes() const noexcept { return bytes_; }
  /// True if the requests of programs are replayed for all traces, and those of devices for none.
  bool logical() const noexcept { return logical_; }
  /// Time from the first event to the last, of the longest trace.
  Time elapsed() const noexcept { return elapsed_; }

 private:
  static constexpr std::uint32_t kNoFile = ~std::uint32_t{0};
  /// The clocks of one thread on one level: logical requests, which the program made, or physical ones, which reached a
  /// device.
  struct Level {
    bool begun = false;  // true after the first event
    Time start = 0;
    Time end = 0;  // end of the last synchronous event
    Time cpu = -1;
    bool has_new_cpu_time = false;  // true if the last event reported a new CPU time
    Time last_sample = 0;           // time of the last new CPU time
    Time unused_cpu_time = 0;       // CPU time that no gap has consumed yet
  };
  struct Thread {
    std::size_t program = 0;
    Level levels[2];         // physical requests, logical requests
    Time think[2] = {0, 0};  // computing since the last request, by level
    Time pause[2] = {0, 0};  // pauses since the last request, by level
    std::int64_t requests[2] = {0, 0};
    Time computed = 0;                          // total computing between logical requests
    bool in_collective = false;                 // true if it took part in a collective operation
    std::uint32_t last_written_file = kNoFile;  // last file that the program wrote
    std::vector<Request> chunk;
  };
  struct ReadState;

  bool add_to_total(Time interval);
  void add_event(ReadState& reading, const trace::Event& event);
  void add_gap(Level& level, Thread& thread, const trace::Event& event);
  void add_request(ReadState& reading, Thread& thread, const trace::Event& event);
  void add_barrier(ReadState& reading, Thread& thread, const trace::Event& event);
  Thread& find_thread(ReadState& reading, const trace::Event& event);
  std::uint32_t find_file(ReadState& reading, const trace::Event& event);
  std::int64_t find_rank(ReadState& reading, std::uint32_t process);
  std::uint32_t find_group(ReadState& reading, const trace::Event& event);
  void store_request(Thread& thread, const Request& request);
  void end_trace(ReadState& reading, const trace::Description& description);

  RequestSpool spool_;
  std::vector<Program> programs_;
  std::vector<RecordedFile> files_;
  std::vector<std::uint32_t> groups_{0};
  TraceOddities oddities_;
  std::uint32_t traces_ = 0;
  std::int64_t requests_ = 0;
  std::int64_t bytes_ = 0;
  bool logical_ = true;
  Time elapsed_ = 0;
  Time total_time_ = 0;  // sum of all gaps and durations
};

}  // namespace plait::simulation
