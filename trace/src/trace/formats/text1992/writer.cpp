// Writes traces in the format of 1992. Comments state what a record cannot: `but` for one record, `with` for this and
// the later records of a file, `event` for events that are not reads or writes.

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

constexpr std::int64_t kMaxSigned = std::numeric_limits<std::int64_t>::max();

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
        comment_start_(dialect_.comment_start()),
        line_(dialect_.base, dialect_.separator) {
    sink_->put(dialect_.head());
    sink_->put("\n");
  }

  void add(const Process& process) override {
    Process bare;
    bare.number = process.number;
    if (dialect_.has_extensions)
      write_comment(remark_text(process));
    else
      processes_lost_ += process == bare ? 0 : 1;
  }

  void add(const File& file) override { write_comment(remark_text(file)); }

  void write(std::span<const Event> events) override {
    for (const Event& event : events) {
      const Times times{round_to_ticks(event.start), rounded_length(event), round_to_ticks_or_unknown(event.cpu)};
      if (fits_record(event, times))
        write_record(event, times);
      else
        write_event_comment(event, times);
    }
  }

  void finish(const Description& description) override {
    if (dialect_.has_extensions) {
      for (const MissedCalls& missed : description.missed) write_comment(remark_text(missed));
      for (const Counters& counters : description.counters) write_comment(remark_text(counters));
      for (const std::string& note : description.notes) write_comment(note_text(note));
      Description end = description;
      if (has_rounded_) end.tick = std::max(description.tick, dialect_.tick);
      write_comment(end_text(end, dialect_.tick));
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
    const auto add_if = [&](bool is_lost, const auto&... parts) {
      if (is_lost) all.push_back(base::text(parts...));
    };
    add_if(has_rounded_, "times were rounded to ", dialect_.tick, " ns");
    add_if(events_lost_ > 0, events_lost_,
           " events that are no reads or writes, or whose numbers a record cannot hold");
    add_if(defaults_lost_ > 0, "threads, interfaces, flags or what is not known of ", defaults_lost_, " events");
    add_if(results_lost_ > 0, "the results of ", results_lost_, " calls that did not move what was asked");
    add_if(blocks_lost_ > 0, "the bytes of ", blocks_lost_, " physical requests, which were widened to blocks of ",
           dialect_.block, " bytes");
    add_if(cpu_lost_ > 0, "the CPU times of ", cpu_lost_, " events, which went back");
    add_if(processes_lost_ > 0, "what is known of ", processes_lost_, " processes");
    add_if(missed_lost_ > 0, "what the trace says is missing from it");
    add_if(counters_lost_ > 0, counters_lost_, " records of counters");
    add_if(zero_lost_, "the time of day");
    add_if(incomplete_lost_, "that the trace is not complete");
    return all;
  }

 private:
  struct Times {  // in ticks
    std::int64_t start;
    std::int64_t duration;
    std::int64_t cpu;
  };

  void write_comment(std::string_view text) {
    sink_->put(comment_start_);
    sink_->put(text);
    sink_->put("\n");
  }

  /// Rounds to the nearest number of ticks whose time in ns has 64 bits.
  std::int64_t round_to_ticks(std::int64_t time) {
    const std::int64_t tick = dialect_.tick;
    if (tick == 1) return time;
    std::int64_t whole = time / tick;
    std::int64_t remainder = time % tick;
    if (remainder == 0) return whole;
    has_rounded_ = true;
    if (remainder < 0) {
      remainder += tick;
      --whole;
    }
    if (whole < std::numeric_limits<std::int64_t>::min() / tick) return whole + 1;
    return remainder >= tick - remainder && whole < kMaxSigned / tick ? whole + 1 : whole;
  }
  std::int64_t round_to_ticks_or_unknown(std::int64_t time) {
    return time == kUnknown ? kUnknown : round_to_ticks(time);
  }

  /// Both ends are rounded, so that events that did not overlap still do not.
  std::int64_t rounded_length(const Event& event) {
    if (event.duration == kUnknown) return kUnknown;
    std::int64_t end = 0;
    if (event.duration < 0 || event.start < 0 || __builtin_add_overflow(event.start, event.duration, &end))
      return round_to_ticks(event.duration);
    return round_to_ticks(end) - round_to_ticks(event.start);
  }

  bool fits_record(const Event& event, const Times& times) const {
    return (event.kind == Kind::kRead || event.kind == Kind::kWrite) && times.start >= state_.start() &&
           event.offset >= kUnknown && event.length >= 0 && event.length <= kMaxSigned - dialect_.block &&
           event.offset <= kMaxSigned - event.length - dialect_.block && times.duration >= kUnknown &&
           times.cpu >= kUnknown;
  }

  /// Writes an event that no record can represent, as a comment.
  void write_event_comment(const Event& event, const Times& times) {
    if (!dialect_.has_extensions) {
      ++events_lost_;
      return;
    }
    Event copy = event;
    copy.start = times.start;
    copy.duration = times.duration;
    copy.cpu = times.cpu;
    write_comment(event_text(copy));
  }

  static RecordDefaults make_defaults(const Event& event, const Times& times) {
    RecordDefaults defaults;
    defaults.thread = event.thread;
    defaults.flags = static_cast<std::uint16_t>(event.flags & ~record_type::kFlags);
    defaults.interface = event.interface;
    defaults.cpu = times.cpu != kUnknown;
    defaults.offset = event.offset != kUnknown;
    defaults.duration = times.duration != kUnknown;
    return defaults;
  }

  void write_record(const Event& event, const Times& times) {
    ProcessState& process = state_.process(event.process);
    const bool same_file = process.has_record && process.file == event.file;
    bool is_remembered = false;
    FileState& file = State::move_to_front(process, event.file, is_remembered);
    const bool logical = (event.flags & flag::kLogical) != 0;

    // The values that the record states, in bytes and ticks; the comments `but` and `with` state the others.
    Override overrides;
    const std::int64_t unit = logical ? 1 : dialect_.block;
    std::int64_t offset = event.offset;
    std::int64_t length = event.length;
    if (offset == kUnknown) {
      const bool is_aligned =
          is_remembered && file.next >= 0 && file.next <= kMaxSigned - length - unit && file.next % unit == 0;
      offset = is_aligned ? file.next : 0;
    }
    if (!logical) {
      const std::int64_t before = offset % unit;
      const std::int64_t after = (unit - (offset + length) % unit) % unit;
      if (before != 0) overrides.offset = offset;
      if (before + after != 0) overrides.length = length;
      offset -= before;
      length += before + after;
    }
    if (event.result != event.length) overrides.result = event.result;
    std::int64_t cpu = times.cpu == kUnknown ? process.cpu : times.cpu;
    if (cpu < process.cpu) {
      overrides.cpu = cpu;
      cpu = process.cpu;
    }
    write_extensions(file.defaults, make_defaults(event, times), overrides);

    unsigned flags = 0;
    line_.clear();
    const auto add_number = [&](std::int64_t value) { line_.add(static_cast<std::uint64_t>(value)); };
    std::int64_t offset_number = offset / unit;
    std::int64_t length_number = length / unit;
    if (is_remembered && offset == file.next) {
      flags |= compression::kNoBlock;
    } else if (logical && shorter_in_blocks(offset)) {
      flags |= compression::kOffsetInBlocks;
      offset_number = offset / dialect_.block;
    }
    if (is_remembered && length == file.length) {
      flags |= compression::kNoLength;
    } else if (logical && shorter_in_blocks(length)) {
      flags |= compression::kLengthInBlocks;
      length_number = length / dialect_.block;
    }
    if (is_remembered && event.operation == file.operation) flags |= compression::kNoOperation;
    if (same_file) flags |= compression::kNoFile;
    if (state_.has_record() && state_.last_process() == event.process) flags |= compression::kNoProcess;

    add_number(static_cast<std::int64_t>((event.flags & record_type::kFlags) |
                                         (event.kind == Kind::kWrite ? record_type::kWrite : 0U)));
    add_number(static_cast<std::int64_t>(flags));
    if ((flags & compression::kNoBlock) == 0) add_number(offset_number);
    if ((flags & compression::kNoLength) == 0) add_number(length_number);
    add_number(times.start - state_.start());
    add_number(times.duration == kUnknown ? 0 : times.duration);
    if ((flags & compression::kNoOperation) == 0) line_.add(event.operation);
    if ((flags & compression::kNoFile) == 0) line_.add(event.file);
    if ((flags & compression::kNoProcess) == 0) line_.add(event.process);
    add_number(cpu - process.cpu);
    sink_->put(line_.end());

    state_.add_record(process, file, offset, length, event.operation);
    state_.set_start(times.start);
    process.cpu = cpu;
  }

  /// Writes the comments that a record needs. Without extensions, counts what is lost.
  void write_extensions(RecordDefaults& from, const RecordDefaults& to, const Override& overrides) {
    const bool has_overrides = overrides.result || overrides.cpu || overrides.offset || overrides.length;
    if (!dialect_.has_extensions) {
      defaults_lost_ += to == RecordDefaults{} ? 0 : 1;
      results_lost_ += overrides.result ? 1 : 0;
      cpu_lost_ += overrides.cpu ? 1 : 0;
      blocks_lost_ += overrides.offset || overrides.length ? 1 : 0;
      return;
    }
    if (from != to) write_comment(defaults_text(from, to));
    from = to;
    if (has_overrides) write_comment(override_text(overrides));
  }

  /// True if a number of blocks has fewer digits than the number of bytes.
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
  std::string comment_start_;
  Line line_;
  State state_;
  bool has_rounded_ = false;
  bool zero_lost_ = false;
  bool incomplete_lost_ = false;
  std::int64_t events_lost_ = 0;
  std::int64_t defaults_lost_ = 0;
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
