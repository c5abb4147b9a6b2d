/// The actions of processes, taken from traces: the input of a replay.
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
  /// Ignored events at times beyond kFarthestTime, and gaps that exceed the sum of all times.
  std::int64_t far = 0;
  std::int64_t incomplete = 0;  ///< truncated traces
  std::int64_t missed = 0;      ///< events that happened but are in no trace
  std::int64_t counted = 0;     ///< counters of processes: calls that were only counted
};

/// One thread of a process, which makes its requests one after the other.
struct Program {
  std::uint32_t trace = 0;
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
  std::int64_t rank = -1;
  std::string command;
  Time start = 0;  ///< since the first event of the trace
  Time end = 0;    ///< end of the last event
  /// True if the requests of the programs of its trace are replayed; false: those that reached devices.
  bool logical = true;
  std::vector<std::size_t> chunks;
};

/// A file, or an unnamed object that a process opened. Each trace has files of its own.
struct RecordedFile {
  std::string name;
  std::int64_t extent = 0;  ///< end of the last request in bytes
  bool passes = false;      ///< true for a pipe, a socket or a terminal, which is on no device
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
  struct Level {
    bool begun = false;
    Time start = 0;
    Time end = 0;  // end of the last synchronous event
    Time cpu = -1;
    bool moved = false;  // true if the last event reported a new CPU time
    Time sampled = 0;    // time of the last new CPU time
    Time unspent = 0;    // CPU time that no gap has consumed yet
  };
  struct Thread {
    std::size_t program = 0;
    Level levels[2];  // physical requests, logical requests
    Time think[2] = {0, 0};
    Time pause[2] = {0, 0};
    std::int64_t requests[2] = {0, 0};
    Time computed = 0;                // in total, on the level of programs
    bool met = false;                 // true if it met others in a collective operation
    std::uint32_t written = kNoFile;  // last file that the program wrote
    std::vector<Request> chunk;
  };
  struct ReadState;

  bool fits(Time more);
  void take(ReadState& reading, const trace::Event& event);
  void advance(Level& level, Thread& thread, const trace::Event& event);
  void request(ReadState& reading, Thread& thread, const trace::Event& event);
  void meeting(ReadState& reading, Thread& thread, const trace::Event& event);
  Thread& find_thread(ReadState& reading, const trace::Event& event);
  std::uint32_t find_file(ReadState& reading, const trace::Event& event);
  std::int64_t find_rank(ReadState& reading, std::uint32_t process);
  std::uint32_t find_group(ReadState& reading, const trace::Event& event);
  void put(Thread& thread, const Request& request);
  void end(ReadState& reading, const trace::Description& description);

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
  Time sum_ = 0;  // sum of all gaps and durations
};

}  // namespace plait::simulation
