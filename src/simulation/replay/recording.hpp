/// What processes did, taken from traces: the input of a replay.
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

/// What was odd in the traces, counted.
struct TraceOddities {
  std::int64_t overlapping = 0;   ///< synchronous requests that began before the one before them had ended
  std::int64_t backwards = 0;     ///< CPU times below an earlier one of their process
  std::int64_t empty = 0;         ///< requests of no bytes
  std::int64_t failed = 0;        ///< requests that failed
  std::int64_t beyond = 0;        ///< requests longer than kLongestRequest or ending behind kFarthestEnd, left out
  std::int64_t without_time = 0;  ///< requests whose duration is not known
  std::int64_t far = 0;           ///< events at times beyond kFarthestTime, left out, and gaps that add up to more
  std::int64_t incomplete = 0;    ///< traces that are cut off
  std::int64_t missed = 0;        ///< events that happened but are in no trace
  std::int64_t counted = 0;       ///< processes' counters: calls that were only counted
};

/// One thread of a process, which does one thing after the other.
struct Program {
  std::uint32_t trace = 0;
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
  std::int64_t rank = -1;
  std::string command;
  Time start = 0;  ///< since the first event of the trace
  Time end = 0;    ///< of the last event
  /// Whether what the programs of its trace asked for is replayed, and not what reached devices.
  bool logical = true;
  std::vector<std::size_t> chunks;
};

/// A file, or what a process opened without a name.  Each trace has files of its own.
struct RecordedFile {
  std::string name;
  std::int64_t extent = 0;  ///< bytes up to the end of the last request
  bool passes = false;      ///< a pipe, a socket or a terminal, which is on no device
};

/// cost     one pass over each trace.
/// memory   for each file, process and thread, and some 80 bytes a collective operation; requests are in a spool.
/// threads  one at a time while traces are added, then any number.
class Recording {
 public:
  /// Adds the processes of a trace.  progress: hears bytes read and in all.  errors: those of the reader.
  void add(trace::Reader& reader, const std::function<void(std::int64_t, std::int64_t)>& progress = {});

  const std::vector<Program>& programs() const noexcept { return programs_; }
  const std::vector<RecordedFile>& files() const noexcept { return files_; }
  const TraceOddities& oddities() const noexcept { return oddities_; }
  /// By group: how many programs take part; 0 and 1: nobody waits.
  const std::vector<std::uint32_t>& groups() const noexcept { return groups_; }
  const RequestSpool& spool() const noexcept { return spool_; }
  std::int64_t requests() const noexcept { return requests_; }
  std::int64_t bytes() const noexcept { return bytes_; }
  /// Whether of all traces what programs asked for is replayed, and of none what reached devices.
  bool logical() const noexcept { return logical_; }
  /// From the first event to the last, of the longest trace.
  Time elapsed() const noexcept { return elapsed_; }

 private:
  static constexpr std::uint32_t kNoFile = ~std::uint32_t{0};
  struct Level {
    bool begun = false;
    Time start = 0;
    Time end = 0;  // of what was waited for
    Time cpu = -1;
    bool moved = false;  // the CPU time told something new at the last event
    Time sampled = 0;    // when it last did
    Time unspent = 0;    // CPU time that no gap was found for yet
  };
  struct Thread {
    std::size_t program = 0;
    Level levels[2];  // of physical requests, of logical ones
    Time think[2] = {0, 0};
    Time pause[2] = {0, 0};
    std::int64_t requests[2] = {0, 0};
    Time computed = 0;                // in all, on the level of programs
    bool met = false;                 // others in a collective operation
    std::uint32_t written = kNoFile;  // the last that the program asked to write
    std::vector<Request> chunk;
  };
  struct Reading;

  bool fits(Time more);
  void take(Reading& reading, const trace::Event& event);
  void advance(Level& level, Thread& thread, const trace::Event& event);
  void request(Reading& reading, Thread& thread, const trace::Event& event);
  void meeting(Reading& reading, Thread& thread, const trace::Event& event);
  Thread& thread_of(Reading& reading, const trace::Event& event);
  std::uint32_t file_of(Reading& reading, const trace::Event& event);
  std::int64_t rank_of(Reading& reading, std::uint32_t process);
  std::uint32_t group_of(Reading& reading, const trace::Event& event);
  void put(Thread& thread, const Request& request);
  void end(Reading& reading, const trace::Description& description);

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
  Time sum_ = 0;  // of all gaps and durations
};

}  // namespace plait::simulation
