#include "trace/workloads1992/program.hpp"

#include <algorithm>

#include "base/checked.hpp"
#include "base/text.hpp"

namespace plait::trace {

namespace {

constexpr std::uint32_t kParameters = 1;  // the file of parameters; the data files follow, and the text file is last
constexpr std::int64_t kParameterBytes = 2048;
constexpr std::int64_t kTextBytes = 512;
constexpr std::int64_t kOpenTime = 200;
constexpr std::int64_t kFirstRequest = 20'000;  // in CPU time
constexpr std::int64_t kCompulsoryPace = 1'500;

// Times of the store. A file system on ten disks of 9.6 MB/s each (paper, section 2.2) transfers 96 bytes per us,
// after 4 ms of positioning, or 1 ms if a request continues the last one on the disks. A request of 480 KiB takes
// 4,000 + 491,520 / 96 = 9,120 us, about the mean that follows from the paper's 211 s of idle time of venus. The
// solid-state disk takes 1 us per KiB (section 6.3).
constexpr std::int64_t kPosition = 4'000;
constexpr std::int64_t kContinue = 1'000;
constexpr std::int64_t kBytesPerUs = 96;
constexpr std::int64_t kSolidSetup = 5;

}  // namespace

Program::Program(const Spec& spec, std::uint64_t seed, std::uint32_t number, std::int64_t start, int burst)
    : spec_(spec),
      dice_(seed),
      number_(number),
      start_(start),
      burst_(burst != 0 ? burst : spec.burst),
      staged_(spec.about.cycles > 0),
      cycles_(staged_ ? spec.about.cycles : 1),
      ends_(static_cast<std::size_t>(spec.files) + 3, 0) {
  if (staged_) {
    // Everything is read once before the first cycle. The remainders of the division by the cycles are read at the
    // start and written at the end.
    const std::int64_t pass = base::ceil_divide(spec.file_bytes(), spec.read_bytes) * spec.files;
    reads_per_cycle_ = (spec.reads - 1 - pass) / cycles_;
    writes_per_cycle_ = (spec.writes - cycles_) / cycles_;  // in addition to a line of text
    first_reads_ = spec.reads - 1 - reads_per_cycle_ * cycles_;
    last_writes_ = spec.writes - (writes_per_cycle_ + 1) * cycles_;
    // Half of a period at the start, a quarter at the end.
    const std::int64_t period = spec.cpu() * 4 / (4 * cycles_ + 3);
    pace_ = std::max<std::int64_t>(period * burst_ / 1000 / (reads_per_cycle_ + writes_per_cycle_), 1);
  } else {
    first_reads_ = spec.reads - 1;
    writes_per_cycle_ = spec.trickle;
    last_writes_ = spec.writes - spec.trickle;
    pace_ = kCompulsoryPace;
  }
  emit(Kind::kStart, 0, kUnknown, 0);
}

std::vector<File> Program::files() const {
  const std::string base = base::text(spec_.about.name, ".", number_, "/");
  std::vector<File> all{{number_, kParameters, base + "parameters"}};
  for (int k = 0; k < spec_.files; ++k)
    all.push_back({number_, static_cast<std::uint32_t>(data_file(k)), base::text(base, "data", k + 1)});
  if (staged_) all.push_back({number_, static_cast<std::uint32_t>(data_file(spec_.files)), base + "text"});
  return all;
}

Program::Burst Program::plan(std::int64_t index) {
  const std::int64_t whole = spec_.cpu();
  Burst burst;
  if (index == 0) {
    burst.begin = kFirstRequest;
    burst.reads = first_reads_ + 1;
    burst.end = burst.begin + burst.reads * pace_;
    const std::int64_t period = whole * 4 / (4 * cycles_ + 3);
    cycle_begin_ = staged_ ? period / 2 : burst.end;
  } else if (index <= cycles_) {
    burst.begin = cycle_begin_;
    // The lengths of cycles vary, but the variation does not accumulate.
    const std::int64_t quarters = whole * (4 * index + 2) / (4 * cycles_ + 3);
    const std::int64_t period = whole * 4 / (4 * cycles_ + 3);
    const std::int64_t varied = quarters + (dice_.below(31) - 15) * period / 1000;
    cycle_begin_ = staged_ ? varied : whole - last_writes_ * pace_ - 200'000;
    burst.end = burst.begin + (cycle_begin_ - burst.begin) / 1000 * burst_;
    burst.reads = reads_per_cycle_;
    burst.writes = writes_per_cycle_;
    burst.text = staged_ ? 1 : 0;
    burst.stages = spec_.stages;
  } else {
    burst.begin = cycle_begin_;
    burst.writes = last_writes_;
    burst.end = burst.begin + burst.writes * pace_;
  }
  return burst;
}

void Program::begin_burst(std::int64_t index) {
  index_ = index;
  now_ = plan(index);
  done_reads_ = done_writes_ = read_position_ = write_position_ = 0;
  cpu_ = std::max(cpu_, now_.begin);
}

void Program::pop() {
  switch (part_) {
    case Part::kOpen: {
      const std::int64_t files = spec_.files + (staged_ ? 2 : 1);
      if (index_ < files) {
        cpu_ += 50;
        ++index_;
        emit(Kind::kOpen, static_cast<std::uint32_t>(index_), kUnknown, 0);
        return;
      }
      part_ = Part::kRequests;
      begin_burst(0);
      make_request();
      return;
    }
    case Part::kRequests: {
      const std::int64_t left = now_.reads + now_.writes + now_.text - done_reads_ - done_writes_;
      if (left > 0) {
        // The rest of the burst is distributed evenly, with some variation.
        const std::int64_t share = std::max<std::int64_t>(now_.end - cpu_, 0) / (left + 1);
        const std::int64_t varied = share * (1000 - spec_.jitter + dice_.below(2 * spec_.jitter + 1)) / 1000;
        const std::int64_t busy = spec_.solid ? event_.duration / 1000 : 0;  // waits on its processor
        cpu_ += std::max<std::int64_t>(varied, busy) + 1;
        make_request();
        return;
      }
      for (std::int64_t next = index_ + 1; next < bursts(); ++next) {
        begin_burst(next);
        if (now_.reads + now_.writes + now_.text > 0) return make_request();
      }
      part_ = Part::kClose;
      index_ = 0;
      cpu_ = std::max(cpu_ + 1, spec_.cpu() - 100 * (spec_.files + 3));
      [[fallthrough]];
    }
    case Part::kClose: {
      const std::int64_t files = spec_.files + (staged_ ? 2 : 1);
      if (index_ < files) {
        cpu_ += 50;
        ++index_;
        // The last close waits for all asynchronous requests.
        waited_ = std::max(waited_, store_free_ - start_ - cpu_);
        emit(Kind::kClose, static_cast<std::uint32_t>(index_), kUnknown, 0);
        return;
      }
      part_ = Part::kExit;
      cpu_ = std::max(cpu_ + 1, spec_.cpu());
      emit(Kind::kExit, 0, kUnknown, 0);
      return;
    }
    case Part::kExit: part_ = Part::kEnded; return;
    case Part::kEnded: return;
  }
}

void Program::make_request() {
  if (index_ == 0 && done_reads_ == 0) {
    ++done_reads_;
    return emit(Kind::kRead, kParameters, 0, only_input() ? spec_.read_bytes : kParameterBytes);
  }
  const std::int64_t data = now_.reads + now_.writes;
  if (done_reads_ + done_writes_ >= data) {
    ++done_writes_;
    const auto text = static_cast<std::uint32_t>(data_file(spec_.files));
    return emit(Kind::kWrite, text, ends_[text], kTextBytes);
  }
  // In each stage a part is read before a part is written: the program reads until it has reached the stage's share.
  const std::int64_t stage = now_.writes == 0
                                 ? now_.stages
                                 : std::min<std::int64_t>(now_.stages, done_writes_ * now_.stages / now_.writes + 1);
  if (done_reads_ < now_.reads * stage / now_.stages)
    next_read();
  else if (done_writes_ < now_.writes)
    next_write();
  else
    next_read();
}

void Program::next_read() {
  const std::int64_t in_file = base::ceil_divide(spec_.file_bytes(), spec_.read_bytes);
  // A program without cycles reads the first file at the start: the state, or the input of a program with only one.
  const std::int64_t files = staged_ ? spec_.files : 1;
  std::int64_t position = read_position_++ % (in_file * files);
  if (spec_.empty != 0 && index_ != 0) {
    // The program knows without reading which blocks are empty.
    if (position % spec_.empty == spec_.empty / 2) {
      position = (position + 1) % (in_file * files);
      ++read_position_;
    }
  }
  const std::int64_t file = spec_.interleaved ? position % files : position / in_file;
  const std::int64_t block = spec_.interleaved ? position / files : position % in_file;
  const std::int64_t last = staged_ ? spec_.file_bytes() - spec_.read_bytes : block * spec_.read_bytes;
  ++done_reads_;
  const bool input = only_input();
  const auto number = input ? kParameters : static_cast<std::uint32_t>(data_file(static_cast<int>(file)));
  const std::int64_t offset = std::min(block * spec_.read_bytes, last) + (input ? spec_.read_bytes : 0);
  emit(Kind::kRead, number, offset, spec_.read_bytes);
}

void Program::next_write() {
  ++done_writes_;
  std::int64_t file = 0;
  std::int64_t block = write_position_++;
  if (staged_) {
    const std::int64_t position = block % (spec_.file_writes * spec_.files);
    file = spec_.interleaved ? position % spec_.files : position / spec_.file_writes;
    block = spec_.interleaved ? position / spec_.files : position % spec_.file_writes;
  } else if (index_ <= cycles_) {
    file = 1 + block / spec_.file_writes;  // results; the first file contains the state
    block %= spec_.file_writes;
  }
  emit(Kind::kWrite, static_cast<std::uint32_t>(data_file(static_cast<int>(file))), block * spec_.write_bytes,
       spec_.write_bytes);
}

std::int64_t Program::service() {
  const bool on = event_.file == last_file_ && event_.offset == ends_[event_.file];
  last_file_ = event_.file;
  ends_[event_.file] = event_.offset + event_.length;
  const bool data = event_.file != kParameters && event_.file < static_cast<std::uint32_t>(data_file(spec_.files));
  if (spec_.solid && data) return kSolidSetup + base::ceil_divide(event_.length, 1024);
  return (on ? kContinue : kPosition) + base::ceil_divide(event_.length, kBytesPerUs);
}

void Program::emit(Kind kind, std::uint32_t file, std::int64_t offset, std::int64_t length) {
  const std::int64_t wall = start_ + cpu_ + waited_;
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
    waited_ += kOpenTime;
  }
  if (kind != Kind::kRead && kind != Kind::kWrite) return;
  event_.operation = ++operations_;
  const std::int64_t time = service();
  const bool data = file != kParameters && file < static_cast<std::uint32_t>(data_file(spec_.files));
  if (spec_.asynchronous && data) {
    // The store serves one request after the other while the program continues.
    event_.flags |= flag::kAsynchronous;
    store_free_ = std::max(store_free_, wall) + time;
    event_.duration = (store_free_ - wall) * 1000;
    return;
  }
  event_.duration = time * 1000;
  if (!(spec_.solid && data)) waited_ += time;
}

}  // namespace plait::trace
