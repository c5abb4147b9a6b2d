// Conversion of the events of a trace to the requests of programs.
//
// Problem: a trace contains calls and CPU times. A replay needs the time that a program computes (`think`) and pauses
// between requests, because the times of the requests themselves are simulated anew.
//
// Idea: each thread is one program. The gap from the end of one event to the start of the next is divided by the CPU
// clock: the part during which the clock advanced is computing, the rest is a pause. Logical and physical events are
// tracked as two levels, since the physical ones occur within the logical ones; end_trace() chooses one level for the
// whole trace.
//
// Example: a request ends at 10 ms and the next one starts at 18 ms. If the CPU clock advanced by 5 ms since the
// first one, think = 5 ms and pause = 3 ms. Without CPU times, all 8 ms count as computing.
//
// Collective operations wait for each other: the k-th one of a process on a file belongs to the same group as the
// k-th one of every other process of its job.

#include "simulation/replay/recording.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "simulation/cache/requests.hpp"
#include "simulation/replay/barriers.hpp"

namespace plait::simulation {

using trace::Event;
using trace::Kind;

namespace {

constexpr Time kMaxTime = Time{1} << 60;       // 36 years from the clock's zero; the sum of two is below 2^63
constexpr Time kMaxTotalTime = Time{1} << 61;  // limit of all gaps and durations, so that a replay ends before 2^63
/// True if a file is a stream between programs, or to a terminal, which no simulated device serves.
bool is_stream(const std::string& name) {
  constexpr std::string_view kKinds[] = {"pipe:", "socket:", "anon_inode:", "/dev/pts/", "/dev/tty", "/dev/null"};
  return std::ranges::any_of(kKinds, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

constexpr Time kMaxUnusedCpuTime = 20'000'000;  // maximum CPU time that is carried to later gaps

}  // namespace

/// The state while one trace is read.
struct Recording::ReadState {
  /// Processes with different ranks that use a file collectively. A repeated rank means that another job has begun.
  struct Job {
    std::uint32_t number = 0;
    std::set<std::int64_t> ranks;
  };
  /// What one process has done in the collective operations on a file.
  struct Participation {
    std::uint32_t job = 0;
    std::uint64_t operations = 0;  // number of collective operations so far
    std::uint64_t operation = 0;   // number of the call of the last operation
  };

  trace::Reader& reader;
  std::uint32_t trace = 0;
  std::unordered_map<std::uint64_t, Thread> threads;       // key: process and thread
  std::vector<std::uint64_t> order;                        // threads in the order of their first events
  std::unordered_map<std::uint64_t, std::uint32_t> opens;  // file by process and number
  std::unordered_map<std::string, std::uint32_t> names;    // file by name
  std::unordered_map<std::uint32_t, std::int64_t> ranks;   // the rank of each process
  std::size_t read_processes = 0;                          // number of processes of the description that were read
  std::unordered_map<std::uint64_t, Participation> parts;  // key: process and file
  std::unordered_map<std::uint32_t, Job> jobs;             // the last job that began to use each file collectively
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, std::uint32_t>
      groups;                                                 // key: file, job and the number of the operation
  std::unordered_map<std::uint64_t, std::int64_t> positions;  // positions of streams; key: process and number
  std::size_t read_files = 0;                                 // number of files of the description that were read
  bool begun = false;                                         // true after the first event
  Time first = 0;
  Time last = 0;
  std::int64_t level_requests[2] = {0, 0};
  std::int64_t level_bytes[2] = {0, 0};
};

void Recording::add(trace::Reader& reader, const std::function<void(std::int64_t, std::int64_t)>& progress) {
  ReadState reading{.reader = reader,
                    .trace = traces_++,
                    .threads = {},
                    .order = {},
                    .opens = {},
                    .names = {},
                    .ranks = {},
                    .parts = {},
                    .jobs = {},
                    .groups = {},
                    .positions = {}};
  std::vector<Event> events(4096);
  while (const std::size_t count = reader.read(events)) {
    for (std::size_t k = 0; k < count; ++k) add_event(reading, events[k]);
    if (progress) progress(reader.bytes_read(), reader.bytes_in_all());
  }
  end_trace(reading, reader.description());
}

Recording::Thread& Recording::find_thread(ReadState& reading, const Event& event) {
  const std::uint64_t key = std::uint64_t{event.process} << 32 | event.thread;
  const auto [entry, is_new] = reading.threads.try_emplace(key);
  Thread& thread = entry->second;
  if (is_new) {
    reading.order.push_back(key);
    thread.program = programs_.size();
    Program& program = programs_.emplace_back();
    program.trace = reading.trace;
    program.process = event.process;
    program.thread = event.thread;
    program.start = event.start - reading.first;
  }
  return thread;
}

std::uint32_t Recording::find_file(ReadState& reading, const Event& event) {
  const std::uint64_t key = std::uint64_t{event.process} << 32 | event.file;
  const auto entry = reading.opens.find(key);
  if (entry != reading.opens.end()) return entry->second;
  const auto& files = reading.reader.description().files;
  const auto find_by_name = [&](const std::string& name) {
    if (name.empty()) {
      files_.emplace_back();
      return static_cast<std::uint32_t>(files_.size() - 1);
    }
    const auto [named_file, is_new] = reading.names.try_emplace(name, static_cast<std::uint32_t>(files_.size()));
    if (is_new) files_.push_back({name, 0, is_stream(name)});
    return named_file->second;
  };
  for (; reading.read_files < files.size(); ++reading.read_files) {
    const trace::File& file = files[reading.read_files];
    reading.opens.emplace(std::uint64_t{file.process} << 32 | file.number, find_by_name(file.name));
  }
  const auto found = reading.opens.find(key);
  if (found != reading.opens.end()) return found->second;
  const auto number = static_cast<std::uint32_t>(files_.size());
  files_.push_back({});
  reading.opens.emplace(key, number);
  return number;
}

void Recording::add_gap(Level& level, Thread& thread, const Event& event) {
  const auto level_index = static_cast<std::size_t>(&level - thread.levels);
  const bool first = !std::exchange(level.begun, true);
  Time gap = first ? 0 : event.start - level.end;
  if (gap < 0) {
    ++oddities_.overlapping;
    gap = 0;
  }
  if (!add_to_total(gap)) gap = 0;
  Time computed = gap;
  const Time used = first || event.cpu < 0 || level.cpu < 0 ? -1 : event.cpu - level.cpu;
  if (used < 0 && event.cpu >= 0 && level.cpu >= 0) ++oddities_.backwards;
  // The CPU time is used unless it advanced by more than the elapsed time (1000 ns of tolerance), because then it
  // includes other threads. If it is reported at each event, the part beyond the gap belongs to the call before the
  // gap, whose costs the replay adds itself.
  const Time since = first ? 0 : event.start - level.start;
  if (used > 0 && level.has_new_cpu_time && used <= since + 1000) {
    computed = std::min(used, gap);
    level.unused_cpu_time = 0;
  } else if (used >= 0 && used <= event.start + std::max<Time>(event.duration, 0) - level.last_sample + 1000) {
    // The CPU time is sampled only now and then: its increase is divided among the gaps since the last sample, and
    // the rest is carried to later gaps.
    level.unused_cpu_time += used;
    computed = std::min(level.unused_cpu_time, gap);
    level.unused_cpu_time = std::min(level.unused_cpu_time - computed, kMaxUnusedCpuTime);
  } else {
    level.unused_cpu_time = 0;
  }
  thread.pause[level_index] += gap - computed;
  if (first || used > 0) level.last_sample = event.start;
  level.has_new_cpu_time = used > 0 || (first && event.cpu >= 0);
  thread.think[level_index] += computed;
  if (level_index == 1) thread.computed += computed;
  level.start = event.start;
  level.cpu = event.cpu >= 0 ? event.cpu : level.cpu;
  const bool waited = (event.flags & trace::flag::kAsynchronous) == 0 && event.duration > 0;
  level.end = event.start + (waited ? event.duration : 0);
}

/// Adds an interval to the total time of the replay, which must stay below 2^63 ns. Returns false, and counts the
/// interval in TraceOddities::far, if it does not fit.
bool Recording::add_to_total(Time interval) {
  if (interval > kMaxTotalTime - total_time_) {
    ++oddities_.far;
    return false;
  }
  total_time_ += interval;
  return true;
}

void Recording::add_event(ReadState& reading, const Event& event) {
  if (event.start < -kMaxTime || event.start > kMaxTime || event.duration > kMaxTime) {
    ++oddities_.far;
    return;
  }
  if (!add_to_total(std::max<Time>(event.duration, 0))) return;
  if (!std::exchange(reading.begun, true)) reading.first = reading.last = event.start;
  Thread& thread = find_thread(reading, event);
  const bool transfer = event.kind == Kind::kRead || event.kind == Kind::kWrite;
  const bool logical = !transfer || (event.flags & trace::flag::kLogical) != 0;
  const Time end = event.start + std::max<Time>(event.duration, 0);
  reading.last = std::max(reading.last, end);
  Program& program = programs_[thread.program];
  program.end = std::max(program.end, end - reading.first);
  add_gap(thread.levels[logical ? 1 : 0], thread, event);
  switch (event.kind) {
    case Kind::kRead:
    case Kind::kWrite:
    case Kind::kSync:
    case Kind::kTruncate:
    case Kind::kClose: add_request(reading, thread, event); break;
    case Kind::kPhase:
      if (waits_for_all(files_[find_file(reading, event)].name)) {
        add_barrier(reading, thread, event);
        break;
      }
      [[fallthrough]];
    default:  // replayed with its recorded time
      thread.pause[1] += std::max<Time>(event.duration, 0);
  }
}

/// Adds a call in which all processes wait for all others. Its recorded time was waiting, which the replay simulates.
void Recording::add_barrier(ReadState& reading, Thread& thread, const Event& event) {
  Request action;
  action.kind = Kind::kPhase;
  action.service = std::max<Time>(event.duration, 0);  // used if the other processes are in no trace
  action.group = find_group(reading, event);
  ++groups_[action.group];
  thread.in_collective = true;
  action.think = std::exchange(thread.think[1], 0);
  action.pause = std::exchange(thread.pause[1], 0);
  store_request(thread, action);
}

void Recording::add_request(ReadState& reading, Thread& thread, const Event& event) {
  const bool transfer = event.kind == Kind::kRead || event.kind == Kind::kWrite;
  const bool logical = !transfer || (event.flags & trace::flag::kLogical) != 0;
  const std::size_t level = logical ? 1 : 0;
  if (event.duration < 0) ++oddities_.without_time;
  std::uint32_t group = 0;  // assigned to failed operations too, so that the later ones match those of other processes
  if (transfer && logical && event.operation != 0 && (event.flags & trace::flag::kCollective) != 0)
    group = find_group(reading, event);
  const bool failed = event.result < 0;
  if (failed || (transfer && (event.moved() > kMaxRequestBytes || event.offset > kMaxRequestEnd - event.moved()))) {
    ++(failed ? oddities_.failed : oddities_.beyond);
    thread.pause[level] += std::max<Time>(event.duration, 0);
    return;
  }
  Request action;
  action.kind = event.kind;
  action.logical = logical;
  action.asynchronous = transfer && (event.flags & trace::flag::kAsynchronous) != 0;
  action.direct = (event.flags & trace::flag::kDirect) != 0;
  action.durable = event.kind == Kind::kWrite && (event.flags & trace::flag::kDurable) != 0;
  action.service = std::max<Time>(event.duration, 0);
  action.file = find_file(reading, event);
  if (transfer && files_[action.file].is_stream) {
    if (!action.asynchronous) thread.pause[level] += action.service;
    return;
  }
  // The file that a library syncs may have another name and replace the one that was written.
  if (event.kind == Kind::kSync && (event.flags & trace::flag::kLogical) == 0 && thread.last_written_file != kNoFile)
    action.file = thread.last_written_file;
  if (event.kind == Kind::kWrite && logical) thread.last_written_file = action.file;
  action.offset = event.offset;
  if (transfer) {
    action.length = event.moved();
    if (action.length == 0) ++oddities_.empty;
    const std::uint64_t key = std::uint64_t{event.process} << 32 | event.file;
    if (event.offset < 0) {
      std::int64_t& position = reading.positions[key];
      if (position > kMaxRequestEnd - action.length) position = 0;  // a stream has no end
      action.offset = position;
      position += action.length;
    }
    RecordedFile& file = files_[action.file];
    file.extent = std::max(file.extent, action.offset + action.length);
    ++reading.level_requests[level];
    ++thread.requests[level];
    reading.level_bytes[level] += action.length;
    action.group = group;
    if (group != 0) ++groups_[group];
  }
  action.offset = std::clamp<std::int64_t>(action.offset, 0, kMaxRequestEnd);
  action.think = std::exchange(thread.think[level], 0);
  action.pause = std::exchange(thread.pause[level], 0);
  store_request(thread, action);
}

std::int64_t Recording::find_rank(ReadState& reading, std::uint32_t process) {
  const auto& processes = reading.reader.description().processes;
  for (; reading.read_processes < processes.size(); ++reading.read_processes)
    reading.ranks[processes[reading.read_processes].number] = processes[reading.read_processes].rank;
  const auto entry = reading.ranks.find(process);
  return entry == reading.ranks.end() ? -1 : entry->second;
}

/// Returns the group of a collective operation: all processes of a job share a group for their k-th operation on a
/// file. Operation numbers cannot identify it, because each process counts all its calls.
std::uint32_t Recording::find_group(ReadState& reading, const Event& event) {
  const std::uint32_t file = find_file(reading, event);
  const auto [entry, is_new] = reading.parts.try_emplace(std::uint64_t{event.process} << 32 | file);
  ReadState::Participation& part = entry->second;
  if (is_new) {
    ReadState::Job& job = reading.jobs[file];
    const std::int64_t rank = find_rank(reading, event.process);
    if (rank >= 0 && !job.ranks.insert(rank).second) {
      ++job.number;
      job.ranks = {rank};
    }
    part.job = job.number;
  }
  // Only the first of several requests of one call waits.
  if (event.kind != Kind::kPhase && std::exchange(part.operation, event.operation) == event.operation) return 0;
  const auto [group, is_new_group] =
      reading.groups.try_emplace({file, part.job, part.operations++}, static_cast<std::uint32_t>(groups_.size()));
  if (is_new_group) groups_.push_back(0);
  return group->second;
}

void Recording::store_request(Thread& thread, const Request& request) {
  thread.chunk.push_back(request);
  if (thread.chunk.size() < kChunkRequests) return;
  programs_[thread.program].chunks.push_back(spool_.add(thread.chunk));
  thread.chunk.clear();
}

void Recording::end_trace(ReadState& reading, const trace::Description& description) {
  const bool logical = reading.level_requests[1] > 0 || reading.level_requests[0] == 0;
  const std::size_t level = logical ? 1 : 0;
  for (const std::uint64_t key : reading.order) {
    Thread& thread = reading.threads.at(key);
    Program& program = programs_[thread.program];
    program.logical = logical;
    Request last;
    last.think = thread.think[level];
    last.pause = thread.pause[level];
    // The gaps between device requests do not contain other calls.
    if (!logical && thread.levels[0].begun) {
      const Time time_after_last = std::max<Time>(program.end + reading.first - thread.levels[0].end, 0);
      if (add_to_total(time_after_last)) last.think += time_after_last;
    }
    // A process that neither reads nor writes and computes little waits for others, such as a launcher or shell, and
    // is removed. Ranks that others wait for stay.
    const bool only_waits =
        thread.requests[level] == 0 && !thread.in_collective && thread.computed < (program.end - program.start) / 2;
    if (only_waits && reading.level_requests[level] > 0) {
      program.chunks.clear();
      thread.chunk.clear();
      last = {};
    }
    store_request(thread, last);
    program.chunks.push_back(spool_.add(thread.chunk));
    for (const trace::Process& process : description.processes)
      if (process.number == program.process) {
        program.rank = process.rank;
        program.command = process.command;
        break;
      }
  }
  if (!description.complete) ++oddities_.incomplete;
  for (const trace::MissedCalls& gap : description.missed) oddities_.missed += std::max<std::int64_t>(gap.events, 1);
  oddities_.counted += static_cast<std::int64_t>(description.counters.size());
  if (reading.begun) elapsed_ = std::max(elapsed_, reading.last - reading.first);
  logical_ = logical_ && logical;
  requests_ += reading.level_requests[level];
  bytes_ += reading.level_bytes[level];
}

}  // namespace plait::simulation
