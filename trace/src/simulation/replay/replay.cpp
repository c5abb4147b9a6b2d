// The replay of programs on the virtual clock.
//
// Each process alternates between a processor, which it needs for its computing and its system time, and the wait for
// the operations of its request. The functions form one cycle: count_processor_time() -> on_computed() ->
// make_request() -> wake() or no wait -> complete() -> fetch_next_request() -> count_processor_time().
//
// Example: think = 2 ms, call_cost = 10 µs, and a read of 1 MB with copy_rate = 1e9. The process needs a processor
// for 2 + 0.01 + 1 = 3.01 ms. At 3.01 ms it reads; if the device takes 5 ms it continues at 8.01 ms. The latency of
// the read is the 5 ms plus its 1.01 ms of system time.

#include "simulation/replay/replay.hpp"

#include <algorithm>
#include <utility>

#include "base/errors.hpp"
#include "plait/error.hpp"
#include "simulation/devices/flushed.hpp"

namespace plait::simulation {

using trace::Kind;

namespace {

// Tokens of events and operations: the low 32 bits are the process, and the flags say what it waits for.
constexpr std::uint64_t kAsynchronous = std::uint64_t{1} << 40;
constexpr std::uint64_t kPause = std::uint64_t{1} << 41;
constexpr std::uint64_t kService = std::uint64_t{1} << 42;

std::uint32_t to_process(std::uint64_t token) { return static_cast<std::uint32_t>(token); }

std::vector<std::int64_t> to_extents(const Recording& recording) {
  std::vector<std::int64_t> all;
  for (const RecordedFile& file : recording.files()) all.push_back(file.extent);
  return all;
}

const ReplaySettings& check_settings(const ReplaySettings& settings) {
  settings.check();
  return settings;
}

/// Returns the settings of the cache. A replay of measured times has neither cache nor device.
CacheSettings make_cache_settings(const ReplaySettings& settings) {
  CacheSettings cache = settings.cache;
  if (settings.program.measured) cache.size = 0;
  // Data in a tier is durable.
  cache.flush = settings.device.takes_flushes() && settings.tier.size == 0;
  return cache;
}

}  // namespace

Replay::Replay(const Recording& recording, const ReplaySettings& settings)
    : recording_(recording),
      settings_(check_settings(settings)),
      operations_(*this),
      extents_(to_extents(recording)),
      placement_(extents_, settings.cache.block),
      cache_(make_cache_settings(settings), clock_, operations_, placement_,
             static_cast<std::uint32_t>(recording.programs().size())),
      processors_(settings.processors, clock_, *this),
      arrived_(recording.groups().size(), 0),
      waiting_at_(recording.groups().size()) {
  if (!settings.program.measured) {
    const DeviceSite site{clock_, operations_, settings.device.kind, placement_.span()};
    if (settings.tier.size > 0)
      device_ = std::make_unique<TieredDevice>(site, settings.tier, settings.device);
    else if (settings.device.takes_flushes())
      device_ = std::make_unique<FlushedDevice>(site, settings.device);
    else
      device_ = make_device(settings.device, site);
    operations_.set_device(*device_);
  }
  const CacheSettings cache = make_cache_settings(settings);
  if (cache.size > 0 && NamedPolicy(cache.policy).kind().foresight == Foresight::kNext) {
    future_ = std::make_unique<Future>(recording, settings.program.aggregate, cache.block);
    cache_.set_future(*future_);
  }
  for (std::size_t k = 0; k < recording.programs().size(); ++k) {
    processes_.push_back(
        {.cursor = RequestCursor(recording, k, settings.program.aggregate), .request = {}, .outcome = {}});
    processors_.add_process();
    processes_[k].outcome.start = recording.programs()[k].start;
    processes_[k].pausing = true;
    processes_[k].waiting_since = recording.programs()[k].start;
    processes_[k].request = processes_[k].cursor.next();
    const Time pause = settings.program.keep_waits ? processes_[k].request.pause : 0;
    clock_.schedule(recording.programs()[k].start + pause, *this, k | kPause);
  }
}

ReplayOutcome Replay::run(const std::function<void(double)>& progress) {
  progress_ = progress;
  bool finished = processes_.empty();
  while (!clock_.empty() || release_stuck()) {
    if (clock_.empty()) continue;
    clock_.run_next();
    if (waiting_at_barriers_ > 0 && ended_ + waiting_at_barriers_ == processes_.size()) release_stuck();
    if (finished || ended_ < processes_.size()) continue;
    finished = true;
    outcome_.elapsed = clock_.now();
    processors_.notify_idle();
    outcome_.idle = processors_.idle_time(clock_.now());
    cache_.flush();
  }
  if (!finished)  // an error is better than a wrong figure
    base::throw_system_error(0, "the replay came to an end while ", processes_.size() - ended_,
                             " programs had not; this is a mistake of Plait's, please report it with the trace and the "
                             "machine file");
  outcome_.drained = std::max(outcome_.elapsed, last_operation_);
  outcome_.interrupts = processors_.interrupts();
  outcome_.switches = processors_.switches();
  outcome_.system += outcome_.switches * settings_.processors.switch_cost;
  outcome_.cache = cache_.counts();
  if (device_ != nullptr) device_->report(outcome_.devices);
  for (std::uint32_t k = 0; k < processes_.size(); ++k) {
    ProcessOutcome& outcome = processes_[k].outcome;
    outcome.ready = processors_.waited(k);
    outcome_.computing += outcome.computing;
    outcome_.system += outcome.system;
    outcome_.processes.push_back(outcome);
  }
  return std::move(outcome_);
}

void Replay::report_progress() {
  constexpr std::int64_t kRequestsPerReport = 1 << 16;
  if (++requests_made_ % kRequestsPerReport == 0 && progress_)
    progress_(std::min(1.0, static_cast<double>(requests_made_) /
                                static_cast<double>(std::max<std::int64_t>(recording_.requests(), 1))));
}

/// Returns the processor time before the next request.
Time Replay::count_processor_time(Process& process) {
  const Request& request = process.request;
  process.outcome.computing += request.think;
  Time system = 0;
  const bool transfer = request.kind == Kind::kRead || request.kind == Kind::kWrite;
  if (!settings_.program.measured && transfer)
    system = settings_.processors.call_cost + transfer_time(request.length, settings_.processors.copy_rate) +
             settings_.processors.hit_cost;
  process.outcome.system += system;
  return request.think + system;
}

/// Proceeds to the next request.
/// returns  the processor time that the process needs; below 0: it pauses or has ended.
Time Replay::fetch_next_request(std::uint32_t index) {
  Process& process = processes_[index];
  process.request = process.cursor.next();
  if (process.request.pause > 0 && settings_.program.keep_waits) {
    process.pausing = true;
    process.waiting_since = clock_.now();
    clock_.schedule(clock_.now() + process.request.pause, *this, index | kPause);
    return -1;
  }
  return count_processor_time(process);
}

Time Replay::on_computed(std::uint32_t index) {
  Process& process = processes_[index];
  process.request_start = clock_.now();
  if (!make_request(index)) return -1;
  complete(process);
  return fetch_next_request(index);
}

/// Makes the request of a process.
/// returns  true if the process continues at once.
bool Replay::make_request(std::uint32_t index) {
  Process& process = processes_[index];
  const Request& request = process.request;
  process.waiting_since = clock_.now();
  switch (request.kind) {
    case Kind::kRead:
    case Kind::kWrite: report_progress(); return submit_transfer(index) && enter_barrier(index);
    case Kind::kSync:
      if (settings_.program.measured) return wait_recorded_time(index);
      cache_.sync(request.file);
      return wait_for_needed(index) && wait_for_asynchronous(process);
    case Kind::kTruncate:
      if (!settings_.program.measured) cache_.truncate(request.file, request.offset);
      return true;
    case Kind::kClose: return wait_for_asynchronous(process);
    case Kind::kPhase: return recording_.groups()[request.group] < 2 ? wait_recorded_time(index) : enter_barrier(index);
    default: break;
  }
  if (!wait_for_asynchronous(process)) return false;
  process.outcome.end = clock_.now();
  ++ended_;
  return false;
}

bool Replay::submit_transfer(std::uint32_t index) {
  Process& process = processes_[index];
  const Request& request = process.request;
  const bool read = request.kind == Kind::kRead;
  ++(read ? process.outcome.reads : process.outcome.writes);
  (read ? process.outcome.read_bytes : process.outcome.write_bytes) += request.length;
  (read ? outcome_.program_read : outcome_.program_write).add(clock_.now(), request.length);
  if (settings_.program.measured) return wait_recorded_time(index);
  if (request.length == 0) return true;
  if (future_ != nullptr && Future::uses_cache(request)) future_->mark_next_request(index);
  const Access access{index, request.file, request.offset, request.length, request.durable};
  if (request.direct) {
    cache_.bypass(access, !read);
  } else if (read) {
    if (cache_.read(access)) process.outcome.hit_bytes += request.length;
  } else {
    cache_.write(access);
  }
  outcome_.max_dirty = std::max(outcome_.max_dirty, cache_.dirty_bytes());
  return wait_for_needed(index);
}

bool Replay::wait_recorded_time(std::uint32_t index) {
  Process& process = processes_[index];
  if (process.request.service == 0) return true;
  const bool asynchronous = process.request.asynchronous;
  ++(asynchronous ? process.asynchronous_operations : process.awaited_operations);
  clock_.schedule(clock_.now() + process.request.service, *this, index | (asynchronous ? kAsynchronous : kService));
  return asynchronous;
}

bool Replay::wait_for_asynchronous(Process& process) {
  process.waits_for_all = process.asynchronous_operations > 0;
  return !process.waits_for_all;
}

bool Replay::wait_for_needed(std::uint32_t index) {
  Process& process = processes_[index];
  const Request& request = process.request;
  const bool asynchronous = request.asynchronous ||
                            (request.kind == Kind::kRead && settings_.program.asynchronous_reads) ||
                            (request.kind == Kind::kWrite && settings_.program.asynchronous_writes);
  for (const Operation operation : cache_.needed_operations())
    if (operations_.wait(operation, index | (asynchronous ? kAsynchronous : 0)))
      ++(asynchronous ? process.asynchronous_operations : process.awaited_operations);
  return process.awaited_operations == 0;
}

/// Ends a request.
void Replay::complete(Process& process) {
  const Time now = clock_.now();
  process.outcome.waiting += now - process.waiting_since;
  const Request& request = process.request;
  if (request.kind != Kind::kRead && request.kind != Kind::kWrite) return;
  const Time system = settings_.program.measured ? 0
                                                 : settings_.processors.call_cost + settings_.processors.hit_cost +
                                                       transfer_time(request.length, settings_.processors.copy_rate);
  if (!request.asynchronous)
    (request.kind == Kind::kRead ? outcome_.read_latency : outcome_.write_latency)
        .add(now - process.request_start + system);
}

/// Waits for the other programs of a collective operation. The last one of a group releases the others.
/// returns  true if this process continues at once.
bool Replay::enter_barrier(std::uint32_t index) {
  Process& process = processes_[index];
  const std::uint32_t group = process.request.group;
  if (group == 0 || recording_.groups()[group] < 2) return true;
  process.outcome.waiting += clock_.now() - process.waiting_since;
  process.waiting_since = clock_.now();
  if (++arrived_[group] < recording_.groups()[group]) {
    ++waiting_at_barriers_;
    waiting_at_[group].push_back(index);
    return false;
  }
  for (const std::uint32_t other : std::exchange(waiting_at_[group], {})) leave_barrier(other);
  return true;
}

void Replay::leave_barrier(std::uint32_t index) {
  Process& process = processes_[index];
  --waiting_at_barriers_;
  process.outcome.barrier += clock_.now() - process.waiting_since;
  process.waiting_since = clock_.now();
  continue_process(index);
}

/// Releases processes that wait for others that never arrive. Called when no process can continue.
bool Replay::release_stuck() {
  for (auto& waiting : waiting_at_) {
    if (waiting.empty()) continue;
    ++outcome_.unmatched;
    for (const std::uint32_t process : std::exchange(waiting, {})) leave_barrier(process);
    return true;
  }
  return false;
}

/// Continues a process that waited with its next request.
void Replay::continue_process(std::uint32_t index) {
  Process& process = processes_[index];
  complete(process);
  const Time processor_time = fetch_next_request(index);
  if (processor_time >= 0) processors_.enqueue(index, processor_time);
}

void Replay::operation_ended(const DeviceRequest& request) {
  processors_.interrupt();
  last_operation_ = clock_.now();
  if (request.write) cache_.count_written(request.length);
  (request.write ? outcome_.device_write : outcome_.device_read).add(clock_.now(), request.length);
}

void Replay::wake(std::uint64_t token) {
  const std::uint32_t index = to_process(token);
  Process& process = processes_[index];
  if ((token & kAsynchronous) != 0) {
    if (--process.asynchronous_operations > 0 || !process.waits_for_all) return;
    process.waits_for_all = false;
    if (process.request.kind == Kind::kExit) {
      process.outcome.end = clock_.now();
      process.outcome.waiting += clock_.now() - process.waiting_since;
      ++ended_;
      return;
    }
    continue_process(index);
    return;
  }
  if (--process.awaited_operations > 0) return;
  if (process.request.kind == Kind::kSync && !wait_for_asynchronous(process)) return;
  if (enter_barrier(index)) continue_process(index);
}

void Replay::fire(std::uint64_t token) {
  const std::uint32_t index = to_process(token);
  if ((token & kPause) == 0) {
    wake(token & ~kService);
    return;
  }
  Process& process = processes_[index];
  process.pausing = false;
  process.outcome.pausing += clock_.now() - process.waiting_since;
  processors_.enqueue(index, count_processor_time(process));
}

}  // namespace plait::simulation
