#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/text.hpp"
#include "plait/error.hpp"
#include "trace/formats/text1992/dialect.hpp"
#include "trace/formats/text1992/extension.hpp"
#include "trace/formats/text1992/state.hpp"
#include "trace/formats/text1992/text1992.hpp"

namespace plait::trace::text1992 {

namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

/// The printed numbers of a record.
class Line {
 public:
  Line(int base, char separator) : base_(base), separator_(separator) {}
  void clear() { used_ = 0; }
  void add(std::uint64_t value) {
    if (used_ > 0) text_[used_++] = separator_;
    std::array<char, 20> digits;
    std::size_t begin = digits.size();
    if (base_ == 16) {
      do digits[--begin] = "0123456789ABCDEF"[value & 15];
      while ((value >>= 4) != 0);
    } else {
      do digits[--begin] = static_cast<char>('0' + value % 10);
      while ((value /= 10) != 0);
    }
    while (begin < digits.size()) text_[used_++] = digits[begin++];
  }
  std::string_view end() {
    text_[used_++] = '\n';
    return {text_.data(), used_};
  }

 private:
  std::array<char, 256> text_;  // ten numbers of 20 digits
  std::size_t used_ = 0;
  int base_;
  char separator_;
};

class Writer1992 : public Writer {
 public:
  Writer1992(std::unique_ptr<Sink> sink, const WriteOptions& options)
      : sink_(std::move(sink)),
        dialect_(make_dialect(options)),
        mark_(dialect_.mark()),
        line_(dialect_.base, dialect_.separator) {
    sink_->put(dialect_.head());
    sink_->put("\n");
  }

  void add(const Process& process) override {
    Process bare;
    bare.number = process.number;
    if (dialect_.extended)
      comment(remark_text(process));
    else
      processes_lost_ += process == bare ? 0 : 1;
  }

  void add(const File& file) override { comment(remark_text(file)); }

  void write(std::span<const Event> events) override {
    for (const Event& event : events) {
      const Times times{floor_ticks(event.start), rounded_length(event), floor_ticks_or_unknown(event.cpu)};
      if (fits_record(event, times))
        record(event, times);
      else
        other(event, times);
    }
  }

  void finish(const Description& description) override {
    if (dialect_.extended) {
      for (const MissedCalls& missed : description.missed) comment(remark_text(missed));
      for (const Counters& counters : description.counters) comment(remark_text(counters));
      for (const std::string& note : description.notes) comment(note_text(note));
      Description end = description;
      if (rounded_) end.tick = std::max(description.tick, dialect_.tick);
      comment(end_text(end, dialect_.tick));
    } else {
      missed_lost_ = description.missed.size();
      counters_lost_ = description.counters.size();
      zero_lost_ = description.zero != 0;
      incomplete_lost_ = !description.complete;
    }
    sink_->finish();
  }

  std::int64_t bytes_written() const override { return sink_->bytes(); }

  std::vector<std::string> lost() const override {
    std::vector<std::string> all;
    const auto say = [&](bool what, const auto&... parts) {
      if (what) all.push_back(base::text(parts...));
    };
    say(rounded_, "times were rounded to ", dialect_.tick, " ns");
    say(events_lost_ > 0, events_lost_, " events that are no reads or writes, or whose numbers a record cannot hold");
    say(manners_lost_ > 0, "threads, interfaces, flags or what is not known of ", manners_lost_, " events");
    say(results_lost_ > 0, "the results of ", results_lost_, " calls that did not move what was asked");
    say(blocks_lost_ > 0, "the bytes of ", blocks_lost_, " physical requests, which were widened to blocks of ",
        dialect_.block, " bytes");
    say(cpu_lost_ > 0, "the CPU times of ", cpu_lost_, " events, which went back");
    say(processes_lost_ > 0, "what is known of ", processes_lost_, " processes");
    say(missed_lost_ > 0, "what the trace says is missing from it");
    say(counters_lost_ > 0, counters_lost_, " records of counters");
    say(zero_lost_, "the time of day");
    say(incomplete_lost_, "that the trace is not complete");
    return all;
  }

 private:
  struct Times {  // in ticks
    std::int64_t start;
    std::int64_t duration;
    std::int64_t cpu;
  };

  void comment(std::string_view text) {
    sink_->put(mark_);
    sink_->put(text);
    sink_->put("\n");
  }

  /// Rounds to a tick that can be read back.
  std::int64_t floor_ticks(std::int64_t time) {
    const std::int64_t tick = dialect_.tick;
    if (tick == 1) return time;
    std::int64_t whole = time / tick;
    std::int64_t rest = time % tick;
    if (rest == 0) return whole;
    rounded_ = true;
    if (rest < 0) {
      rest += tick;
      --whole;
    }
    if (whole < std::numeric_limits<std::int64_t>::min() / tick) return whole + 1;
    return rest >= tick - rest && whole < kMax / tick ? whole + 1 : whole;
  }
  std::int64_t floor_ticks_or_unknown(std::int64_t time) { return time == kUnknown ? kUnknown : floor_ticks(time); }

  /// Both ends are rounded, so that events that did not overlap still do not.
  std::int64_t rounded_length(const Event& event) {
    if (event.duration == kUnknown) return kUnknown;
    std::int64_t end = 0;
    if (event.duration < 0 || event.start < 0 || __builtin_add_overflow(event.start, event.duration, &end))
      return floor_ticks(event.duration);
    return floor_ticks(end) - floor_ticks(event.start);
  }

  bool fits_record(const Event& event, const Times& times) const {
    return (event.kind == Kind::kRead || event.kind == Kind::kWrite) && times.start >= state_.start() &&
           event.offset >= kUnknown && event.length >= 0 && event.length <= kMax - dialect_.block &&
           event.offset <= kMax - event.length - dialect_.block && times.duration >= kUnknown && times.cpu >= kUnknown;
  }

  void other(const Event& event, const Times& times) {
    if (!dialect_.extended) {
      ++events_lost_;
      return;
    }
    Event copy = event;
    copy.start = times.start;
    copy.duration = times.duration;
    copy.cpu = times.cpu;
    comment(event_text(copy));
  }

  void record(const Event& event, const Times& times) {
    ProcessState& process = state_.process(event.process);
    const bool same_file = process.has_record && process.file == event.file;
    bool remembered = false;
    FileState& file = State::touch(process, event.file, remembered);
    const bool logical = (event.flags & flag::kLogical) != 0;

    // The values that the record states, in bytes and ticks; `but` and `with` state the others.
    Override but;
    const std::int64_t unit = logical ? 1 : dialect_.block;
    std::int64_t offset = event.offset;
    std::int64_t length = event.length;
    if (offset == kUnknown) {
      const bool fits = remembered && file.next >= 0 && file.next <= kMax - length - unit && file.next % unit == 0;
      offset = fits ? file.next : 0;
    }
    if (!logical) {
      const std::int64_t before = offset % unit;
      const std::int64_t after = (unit - (offset + length) % unit) % unit;
      if (before != 0) but.offset = offset;
      if (before + after != 0) but.length = length;
      offset -= before;
      length += before + after;
    }
    if (event.result != event.length) but.result = event.result;
    std::int64_t cpu = times.cpu == kUnknown ? process.cpu : times.cpu;
    if (cpu < process.cpu) {
      but.cpu = cpu;
      cpu = process.cpu;
    }
    RecordDefaults manner;
    manner.thread = event.thread;
    manner.flags = static_cast<std::uint16_t>(event.flags & ~record_type::kFlags);
    manner.interface = event.interface;
    manner.cpu = times.cpu != kUnknown;
    manner.offset = event.offset != kUnknown;
    manner.duration = times.duration != kUnknown;
    extend(file.manner, manner, but);

    unsigned flags = 0;
    line_.clear();
    const auto number = [&](std::int64_t value) { line_.add(static_cast<std::uint64_t>(value)); };
    std::int64_t offset_number = offset / unit;
    std::int64_t length_number = length / unit;
    if (remembered && offset == file.next) {
      flags |= compression::kNoBlock;
    } else if (logical && shorter_in_blocks(offset)) {
      flags |= compression::kOffsetInBlocks;
      offset_number = offset / dialect_.block;
    }
    if (remembered && length == file.length) {
      flags |= compression::kNoLength;
    } else if (logical && shorter_in_blocks(length)) {
      flags |= compression::kLengthInBlocks;
      length_number = length / dialect_.block;
    }
    if (remembered && event.operation == file.operation) flags |= compression::kNoOperation;
    if (same_file) flags |= compression::kNoFile;
    if (state_.has_record() && state_.last_process() == event.process) flags |= compression::kNoProcess;

    number(static_cast<std::int64_t>((event.flags & record_type::kFlags) |
                                     (event.kind == Kind::kWrite ? record_type::kWrite : 0U)));
    number(static_cast<std::int64_t>(flags));
    if ((flags & compression::kNoBlock) == 0) number(offset_number);
    if ((flags & compression::kNoLength) == 0) number(length_number);
    number(times.start - state_.start());
    number(times.duration == kUnknown ? 0 : times.duration);
    if ((flags & compression::kNoOperation) == 0) line_.add(event.operation);
    if ((flags & compression::kNoFile) == 0) line_.add(event.file);
    if ((flags & compression::kNoProcess) == 0) line_.add(event.process);
    number(cpu - process.cpu);
    sink_->put(line_.end());

    state_.pass(process, file, offset, length, event.operation);
    state_.set_start(times.start);
    process.cpu = cpu;
  }

  void extend(RecordDefaults& from, const RecordDefaults& to, const Override& but) {
    const bool corrected = but.result || but.cpu || but.offset || but.length;
    if (!dialect_.extended) {
      manners_lost_ += to == RecordDefaults{} ? 0 : 1;
      results_lost_ += but.result ? 1 : 0;
      cpu_lost_ += but.cpu ? 1 : 0;
      blocks_lost_ += but.offset || but.length ? 1 : 0;
      return;
    }
    if (from != to) comment(manner_text(from, to));
    from = to;
    if (corrected) comment(override_text(but));
  }

  bool shorter_in_blocks(std::int64_t value) const {
    if (value == 0 || dialect_.block == 1 || value % dialect_.block != 0) return false;
    std::int64_t blocks = value / dialect_.block;
    while (blocks >= dialect_.base) {
      blocks /= dialect_.base;
      value /= dialect_.base;
    }
    return value >= dialect_.base;
  }

  std::unique_ptr<Sink> sink_;
  Dialect dialect_;
  std::string mark_;
  Line line_;
  State state_;
  bool rounded_ = false;
  bool zero_lost_ = false;
  bool incomplete_lost_ = false;
  std::int64_t events_lost_ = 0;
  std::int64_t manners_lost_ = 0;
  std::int64_t results_lost_ = 0;
  std::int64_t cpu_lost_ = 0;
  std::int64_t blocks_lost_ = 0;
  std::size_t processes_lost_ = 0;
  std::size_t missed_lost_ = 0;
  std::size_t counters_lost_ = 0;
};

}  // namespace

std::unique_ptr<Writer> create(std::unique_ptr<Sink> sink, const WriteOptions& options) {
  return std::make_unique<Writer1992>(std::move(sink), options);
}

}  // namespace plait::trace::text1992

namespace plait::trace {

constinit const Format kText1992{.name = "1992",
                                 .suffix = ".1992",
                                 .recognise = text1992::looks_like,
                                 .open = text1992::open,
                                 .create = text1992::create};

}  // namespace plait::trace
