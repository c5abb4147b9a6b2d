// Generates the events of a program: it opens its files, makes its requests in bursts, closes the files and exits.
//
// Burst 0 reads the parameters and, once, the data. In each cycle, a program that stages its data reads a part of it
// and then writes a part, stage by stage. The last burst writes what remains. Within a burst, requests are made at
// nearly equal distances in CPU time.
//
// Example: ccm has 70 cycles in 205 s of CPU time. They are spread over 205 s * 4 / (4 * 70 + 3) = 2.898 s each, with
// half a period before the first one and a quarter after the last one: (70 + 0.75) * 2.898 s = 205 s.

#include "trace/workloads1992/program.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/text.hpp"

namespace plait::trace {

namespace {

constexpr std::uint32_t kParameters = 1;  // the file of parameters; the data files follow, and the text file is last
constexpr std::int64_t kParameterBytes = 2048;
constexpr std::int64_t kTextBytes = 512;
// In us.
constexpr std::int64_t kOpenTime = 200;
constexpr std::int64_t kFirstRequest = 20'000;          // in CPU time
constexpr std::int64_t kIntervalWithoutCycles = 1'500;  // CPU time per request of a program without cycles

// Times of the store. A file system on ten disks of 9.6 MB/s each (paper, section 2.2) transfers 96 bytes per us,
// after 4 ms of positioning, or 1 ms if a request continues the last one on the disks. A request of 480 KiB takes
// 4,000 + 491,520 / 96 = 9,120 us, about the mean that follows from the paper's 211 s of idle time of venus. The
// solid-state disk takes 1 us per KiB (section 6.3).
constexpr std::int64_t kPositionTime = 4'000;
constexpr std::int64_t kContinueTime = 1'000;
constexpr std::int64_t kBytesPerUs = 96;
constexpr std::int64_t kSolidSetupTime = 5;

}  // namespace

Program::Program(const Spec& spec, std::uint64_t seed, std::uint32_t number, std::int64_t start, int burst)
    : spec_(spec),
      random_(seed),
      number_(number),
      start_(start),
      burst_share_(burst != 0 ? burst : spec.burst),
      has_cycles_(spec.about.cycles > 0),
      cycles_(has_cycles_ ? spec.about.cycles : 1),
      last_ends_(static_cast<std::size_t>(spec.files) + 3, 0) {
  if (has_cycles_) {
    // Everything is read once before the first cycle. The remainders of the division by the cycles are read at the
    // start and written at the end.
    const std::int64_t pass = base::ceil_divide(spec.file_bytes(), spec.read_bytes) * spec.files;
    reads_per_cycle_ = (spec.reads - 1 - pass) / cycles_;
    writes_per_cycle_ = (spec.writes - cycles_) / cycles_;  // in addition to a line of text
    first_reads_ = spec.reads - 1 - reads_per_cycle_ * cycles_;
    last_writes_ = spec.writes - (writes_per_cycle_ + 1) * cycles_;
    // Half of a period at the start, a quarter at the end.
    const std::int64_t period = spec.cpu() * 4 / (4 * cycles_ + 3);
    edge_interval_ = std::max<std::int64_t>(period * burst_share_ / 1000 / (reads_per_cycle_ + writes_per_cycle_), 1);
  } else {
    first_reads_ = spec.reads - 1;
    writes_per_cycle_ = spec.writes_in_between;
    last_writes_ = spec.writes - spec.writes_in_between;
    edge_interval_ = kIntervalWithoutCycles;
  }
  emit(Kind::kStart, 0, kUnknown, 0);
}

std::vector<File> Program::files() const {
  const std::string base = base::text(spec_.about.name, ".", number_, "/");
  std::vector<File> all{{number_, kParameters, base + "parameters"}};
  for (int k = 0; k < spec_.files; ++k)
    all.push_back({number_, static_cast<std::uint32_t>(data_file(k)), base::text(base, "data", k + 1)});
  if (has_cycles_) all.push_back({number_, static_cast<std::uint32_t>(data_file(spec_.files)), base + "text"});
  return all;
}

Program::Burst Program::plan_burst(std::int64_t index) {
  const std::int64_t whole = spec_.cpu();
  Burst burst;
  if (index == 0) {
    burst.begin = kFirstRequest;
    burst.reads = first_reads_ + 1;
    burst.end = burst.begin + burst.reads * edge_interval_;
    const std::int64_t period = whole * 4 / (4 * cycles_ + 3);
    cycle_begin_ = has_cycles_ ? period / 2 : burst.end;
  } else if (index <= cycles_) {
    burst.begin = cycle_begin_;
    // The lengths of cycles vary, but the variation does not accumulate.
    const std::int64_t quarters = whole * (4 * index + 2) / (4 * cycles_ + 3);
    const std::int64_t period = whole * 4 / (4 * cycles_ + 3);
    const std::int64_t varied = quarters + (random_.below(31) - 15) * period / 1000;
    cycle_begin_ = has_cycles_ ? varied : whole - last_writes_ * edge_interval_ - 200'000;
    burst.end = burst.begin + (cycle_begin_ - burst.begin) / 1000 * burst_share_;
    burst.reads = reads_per_cycle_;
    burst.writes = writes_per_cycle_;
    burst.text = has_cycles_ ? 1 : 0;
    burst.stages = spec_.stages;
  } else {
    burst.begin = cycle_begin_;
    burst.writes = last_writes_;
    burst.end = burst.begin + burst.writes * edge_interval_;
  }
  return burst;
}

void Program::begin_burst(std::int64_t index) {
  burst_or_file_ = index;
  current_burst_ = plan_burst(index);
  done_reads_ = done_writes_ = read_position_ = write_position_ = 0;
  cpu_ = std::max(cpu_, current_burst_.begin);
}

void Program::advance() {
  switch (phase_) {
    case Phase::kOpen: {
      const std::int64_t files = spec_.files + (has_cycles_ ? 2 : 1);
      if (burst_or_file_ < files) {
        cpu_ += 50;
        ++burst_or_file_;
        emit(Kind::kOpen, static_cast<std::uint32_t>(burst_or_file_), kUnknown, 0);
        return;
      }
      phase_ = Phase::kRequests;
      begin_burst(0);
      make_request();
      return;
    }
    case Phase::kRequests: {
      const std::int64_t requests_left =
          current_burst_.reads + current_burst_.writes + current_burst_.text - done_reads_ - done_writes_;
      if (requests_left > 0) {
        // The rest of the burst is distributed evenly, with some variation.
        const std::int64_t share = std::max<std::int64_t>(current_burst_.end - cpu_, 0) / (requests_left + 1);
        const std::int64_t varied = share * (1000 - spec_.jitter + random_.below(2 * spec_.jitter + 1)) / 1000;
        const std::int64_t busy = spec_.solid_state ? event_.duration / 1000 : 0;  // waits on its processor
        cpu_ += std::max<std::int64_t>(varied, busy) + 1;
        make_request();
        return;
      }
      for (std::int64_t next = burst_or_file_ + 1; next < burst_count(); ++next) {
        begin_burst(next);
        if (current_burst_.reads + current_burst_.writes + current_burst_.text > 0) return make_request();
      }
      phase_ = Phase::kClose;
      burst_or_file_ = 0;
      cpu_ = std::max(cpu_ + 1, spec_.cpu() - 100 * (spec_.files + 3));
      [[fallthrough]];
    }
    case Phase::kClose: {
      const std::int64_t files = spec_.files + (has_cycles_ ? 2 : 1);
      if (burst_or_file_ < files) {
        cpu_ += 50;
        ++burst_or_file_;
        // The last close waits for all asynchronous requests.
        waiting_time_ = std::max(waiting_time_, store_free_ - start_ - cpu_);
        emit(Kind::kClose, static_cast<std::uint32_t>(burst_or_file_), kUnknown, 0);
        return;
      }
      phase_ = Phase::kExit;
      cpu_ = std::max(cpu_ + 1, spec_.cpu());
      emit(Kind::kExit, 0, kUnknown, 0);
      return;
    }
    case Phase::kExit: phase_ = Phase::kEnded; return;
    case Phase::kEnded: return;
  }
}

void Program::make_request() {
  if (burst_or_file_ == 0 && done_reads_ == 0) {
    ++done_reads_;
    return emit(Kind::kRead, kParameters, 0, reads_only_input() ? spec_.read_bytes : kParameterBytes);
  }
  const std::int64_t data = current_burst_.reads + current_burst_.writes;
  if (done_reads_ + done_writes_ >= data) {
    ++done_writes_;
    const auto text = static_cast<std::uint32_t>(data_file(spec_.files));
    return emit(Kind::kWrite, text, last_ends_[text], kTextBytes);
  }
  // In each stage a part is read before a part is written: the program reads until it has reached the stage's share.
  const std::int64_t stage =
      current_burst_.writes == 0
          ? current_burst_.stages
          : std::min<std::int64_t>(current_burst_.stages,
                                   done_writes_ * current_burst_.stages / current_burst_.writes + 1);
  if (done_reads_ < current_burst_.reads * stage / current_burst_.stages)
    emit_read();
  else if (done_writes_ < current_burst_.writes)
    emit_write();
  else
    emit_read();
}

void Program::emit_read() {
  const std::int64_t in_file = base::ceil_divide(spec_.file_bytes(), spec_.read_bytes);
  // A program without cycles reads the first file at the start: the state, or the input of a program with only one.
  const std::int64_t files = has_cycles_ ? spec_.files : 1;
  std::int64_t position = read_position_++ % (in_file * files);
  if (spec_.empty_interval != 0 && burst_or_file_ != 0) {
    // The program knows without reading which blocks are empty.
    if (position % spec_.empty_interval == spec_.empty_interval / 2) {
      position = (position + 1) % (in_file * files);
      ++read_position_;
    }
  }
  const std::int64_t file = spec_.interleaved ? position % files : position / in_file;
  const std::int64_t block = spec_.interleaved ? position / files : position % in_file;
  const std::int64_t last = has_cycles_ ? spec_.file_bytes() - spec_.read_bytes : block * spec_.read_bytes;
  ++done_reads_;
  const bool input = reads_only_input();
  const auto number = input ? kParameters : static_cast<std::uint32_t>(data_file(static_cast<int>(file)));
  const std::int64_t offset = std::min(block * spec_.read_bytes, last) + (input ? spec_.read_bytes : 0);
  emit(Kind::kRead, number, offset, spec_.read_bytes);
}

void Program::emit_write() {
  ++done_writes_;
  std::int64_t file = 0;
  std::int64_t block = write_position_++;
  if (has_cycles_) {
    const std::int64_t position = block % (spec_.file_writes * spec_.files);
    file = spec_.interleaved ? position % spec_.files : position / spec_.file_writes;
    block = spec_.interleaved ? position / spec_.files : position % spec_.file_writes;
  } else if (burst_or_file_ <= cycles_) {
    file = 1 + block / spec_.file_writes;  // results; the first file contains the state
    block %= spec_.file_writes;
  }
  emit(Kind::kWrite, static_cast<std::uint32_t>(data_file(static_cast<int>(file))), block * spec_.write_bytes,
       spec_.write_bytes);
}

std::int64_t Program::take_service_time() {
  const bool continues = event_.file == last_file_ && event_.offset == last_ends_[event_.file];
  last_file_ = event_.file;
  last_ends_[event_.file] = event_.offset + event_.length;
  const bool data = event_.file != kParameters && event_.file < static_cast<std::uint32_t>(data_file(spec_.files));
  if (spec_.solid_state && data) return kSolidSetupTime + base::ceil_divide(event_.length, 1024);
  return (continues ? kContinueTime : kPositionTime) + base::ceil_divide(event_.length, kBytesPerUs);
}

void Program::emit(Kind kind, std::uint32_t file, std::int64_t offset, std::int64_t length) {
  const std::int64_t wall = start_ + cpu_ + waiting_time_;
  event_ = Event{};
  event_.kind = kind;
  event_.interface = Interface::kPosix;
  event_.process = event_.thread = number_;
  event_.file = file;
  event_.offset = offset;
  event_.length = event_.result = length;
  event_.start = wall * 1000;
  event_.cpu = cpu_ * 1000;
  event_.duration = 0;
  if (kind == Kind::kOpen) {
    if (file == kParameters) event_.flags |= flag::kReadOnly;
    event_.flags |= file == kParameters ? 0 : flag::kCreate;
    event_.duration = kOpenTime * 1000;
    waiting_time_ += kOpenTime;
  }
  if (kind != Kind::kRead && kind != Kind::kWrite) return;
  event_.operation = ++operations_;
  const std::int64_t time = take_service_time();
  const bool data = file != kParameters && file < static_cast<std::uint32_t>(data_file(spec_.files));
  if (spec_.asynchronous && data) {
    // The store serves one request after the other while the program continues.
    event_.flags |= flag::kAsynchronous;
    store_free_ = std::max(store_free_, wall) + time;
    event_.duration = (store_free_ - wall) * 1000;
    return;
  }
  event_.duration = time * 1000;
  if (!(spec_.solid_state && data)) waiting_time_ += time;
}

}  // namespace plait::trace
