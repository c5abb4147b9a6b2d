// Writes traces in the JSON trace event format, as an array of entries. Their field `ph` says what they are: M names a
// process or a thread, X is an event with a duration, i one without, b and e are the ends of an asynchronous event, s
// and f those of an arrow, and C is the value of a counter. A track is a row of the picture: a `tid` of a `pid`.

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/text.hpp"
#include "trace/formats/perfetto/json.hpp"
#include "trace/formats/perfetto/perfetto.hpp"
#include "trace/words.hpp"

namespace plait::trace {

namespace perfetto {

namespace {

constexpr std::int64_t kBin = 10'000'000;         // ns of an interval of the counters
constexpr std::size_t kRecentRequests = 1 << 16;  // slots for the logical requests that arrows may begin at
// Lanes are tracks of physical requests. If more requests of a process overlap, these share the last lane.
constexpr std::size_t kMaxLanes = 1024;
constexpr std::uint64_t kFirstLane = 1ULL << 32;  // first thread number of lanes, above those of threads

/// The bytes transferred in the current interval.
struct Rates {
  std::int64_t bin = std::numeric_limits<std::int64_t>::min();  // none yet
  std::int64_t read = 0;
  std::int64_t written = 0;
};

struct ProcessState {
  Rates logical;                    // rates of logical requests
  Rates physical;                   // rates of physical requests
  std::vector<std::int64_t> lanes;  // end of the last request on each lane
  std::unordered_map<std::uint32_t, std::string> files;
};

/// A logical request, and its track.
struct LogicalRequest {
  std::uint64_t operation = 0;
  std::uint32_t process = 0;
  std::uint64_t track = 0;
  std::int64_t start = 0;
};

class PerfettoWriter : public Writer {
 public:
  explicit PerfettoWriter(std::unique_ptr<Sink> sink) : sink_(std::move(sink)) {
    sink_->put("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
  }

  void add(const Process& process) override {
    std::string name = process.rank >= 0 ? base::text("rank ", process.rank, " ") : std::string();
    name += process.command.empty() ? base::text("process ", process.number) : process.command;
    if (!process.host.empty()) name += " on " + process.host;
    write_name("process_name", process.number, 0, name);
    if (process.rank >= 0) {
      begin_entry("M", "process_sort_index", process.number);
      add_args([&](Object& inner) { inner.number("sort_index", process.rank); });
      end_entry();
    }
  }

  void add(const File& file) override { processes_[file.process].files[file.number] = file.name; }

  void write(std::span<const Event> events) override {
    for (const Event& event : events) write_event(event);
  }

  void finish(const Description& description) override {
    for (auto& [number, process] : processes_) {
      close_bin(number, process.logical, kLogicalRates);
      close_bin(number, process.physical, kPhysicalRates);
    }
    sink_->put("\n],\"otherData\":");
    json_.clear();
    {
      Object other(json_);
      other.text("writer", "plait");
      other.text("complete", description.complete ? "yes" : "no");
      if (description.zero != 0) other.natural("zero_ns_since_1970", static_cast<std::uint64_t>(description.zero));
      std::size_t count = 0;
      for (const MissedCalls& missed : description.missed)
        other.text(base::text("missed ", ++count),
                   base::text(missed.reason, ": ", missed.events, " events, ", missed.read_bytes, " bytes read, ",
                              missed.written_bytes, " bytes written"));
      count = 0;
      for (const std::string& note : description.notes) other.text(base::text("note ", ++count), note);
    }
    sink_->put(json_);
    sink_->put("}\n");
    sink_->finish();
    counters_lost_ = description.counters.size();
  }

  std::int64_t bytes_written() const override { return sink_->bytes(); }

  std::vector<std::string> lost() const override {
    if (counters_lost_ == 0) return {};
    return {base::text(counters_lost_, counters_lost_ == 1 ? " record of counters" : " records of counters",
                       ": calls that were counted, not traced")};
  }

 private:
  static constexpr std::string_view kLogicalRates = "bytes/s asked by the program";
  static constexpr std::string_view kPhysicalRates = "bytes/s at stores";

  /// Begins an entry. Members are added by object(), and end() completes it.
  void begin_entry(std::string_view phase, std::string_view name, std::uint64_t process) {
    json_ = is_first_entry_ ? "\n" : ",\n";
    is_first_entry_ = false;
    object_.emplace(json_);
    object_->text("ph", phase);
    object_->text("name", name);
    object_->natural("pid", process);
  }
  template <typename Fill>
  void add_args(Fill fill) {
    Object inner(object_->inner("args"));
    fill(inner);
  }
  void end_entry() {
    object_.reset();
    sink_->put(json_);
  }

  /// Names a process or a track.
  void write_name(std::string_view what, std::uint64_t process, std::uint64_t track, std::string_view name) {
    begin_entry("M", what, process);
    object_->natural("tid", track);
    add_args([&](Object& inner) { inner.text("name", name); });
    end_entry();
  }

  void write_event(const Event& event) {
    ProcessState& process = processes_[event.process];
    const bool is_logical = (event.flags & flag::kLogical) != 0;
    const bool is_transfer = event.kind == Kind::kRead || event.kind == Kind::kWrite;
    if (is_transfer)
      count_bytes(event, is_logical ? process.logical : process.physical, is_logical ? kLogicalRates : kPhysicalRates);
    if (event.duration < 0) {
      write_entry("i", event, process, event.thread, [&] { object_->text("s", "t"); });
    } else if (!is_logical) {
      const std::uint64_t track = find_lane(event, process);
      write_entry("X", event, process, track, [&] { object_->time("dur", event.duration); });
      write_arrow(event, track);
    } else if ((event.flags & flag::kAsynchronous) != 0) {
      const std::uint64_t id = ++asynchronous_;
      write_entry("b", event, process, event.thread, [&] { object_->id("id", id); });
      begin_entry("e", event_name(event, process), event.process);
      object_->text("cat", category(event));
      object_->natural("tid", event.thread);
      object_->time("ts", event_end(event));
      object_->id("id", id);
      end_entry();
    } else {
      write_entry("X", event, process, event.thread, [&] { object_->time("dur", event.duration); });
      if (event.operation == 0) return;
      if (recent_requests_.empty()) recent_requests_.resize(kRecentRequests);
      recent_requests_[slot(event)] = {event.operation, event.process, event.thread, event.start};
    }
  }

  static std::int64_t event_end(const Event& event) {
    std::int64_t end = 0;
    return __builtin_add_overflow(event.start, event.duration, &end) ? event.start : end;
  }

  static std::string_view category(const Event& event) {
    return (event.flags & flag::kLogical) != 0 ? "logical" : "physical";
  }

  static std::string_view event_name(const Event& event, const ProcessState& process) {
    if (event.kind == Kind::kPhase) {
      const auto name = process.files.find(event.file);
      if (name != process.files.end() && !name->second.empty()) return name->second;
    }
    return kind_word(event.kind);
  }

  template <typename More>
  void write_entry(std::string_view phase, const Event& event, const ProcessState& process, std::uint64_t track,
                   More more) {
    begin_entry(phase, event_name(event, process), event.process);
    object_->text("cat", category(event));
    object_->natural("tid", track);
    object_->time("ts", event.start);
    more();
    add_args([&](Object& inner) {
      if (event.file != 0) {
        const auto name = process.files.find(event.file);
        if (name != process.files.end()) inner.text("file", name->second);
        inner.natural("file_number", event.file);
      }
      if (event.offset != kUnknown) inner.number("offset", event.offset);
      if (event.length != 0) inner.number("length", event.length);
      inner.number("result", event.result);
      if (event.operation != 0) inner.id("operation", event.operation);
      if (event.cpu != kUnknown) inner.time("cpu_us", event.cpu);
      if (event.interface != Interface::kUnknown) inner.text("interface", interface_word(event.interface));
      if (event.flags != flags_of_text_ || flags_text_.empty()) {
        flags_text_.clear();
        append_flags(flags_text_, event.flags);
        flags_of_text_ = event.flags;
      }
      inner.text("flags", flags_text_);
    });
    end_entry();
  }

  /// Returns a track that is free when a physical request begins, because requests to stores may overlap, but events of
  /// a track may not.
  std::uint64_t find_lane(const Event& event, ProcessState& process) {
    auto& lanes = process.lanes;
    auto lane_end = std::find_if(lanes.begin(), lanes.end(), [&](std::int64_t end) { return end <= event.start; });
    if (lane_end == lanes.end() && lanes.size() < kMaxLanes) {
      write_name("thread_name", event.process, kFirstLane + lanes.size(), base::text("stores ", lanes.size() + 1));
      lane_end = lanes.insert(lanes.end(), 0);
    } else if (lane_end == lanes.end()) {
      --lane_end;
    }
    *lane_end = event_end(event);
    return kFirstLane + static_cast<std::uint64_t>(lane_end - lanes.begin());
  }

  static std::size_t slot(const Event& event) {
    return static_cast<std::size_t>((event.operation * 0x9e3779b97f4a7c15ULL ^ event.process) % kRecentRequests);
  }

  /// Draws an arrow from the logical request of the same operation to this physical one.
  void write_arrow(const Event& event, std::uint64_t track) {
    if (event.operation == 0 || recent_requests_.empty()) return;
    const LogicalRequest& call = recent_requests_[slot(event)];
    if (call.operation != event.operation || call.process != event.process) return;
    const std::uint64_t id = ++arrows_;
    const auto write_end = [&](std::string_view phase, std::uint64_t at, std::int64_t time) {
      begin_entry(phase, "request", event.process);
      object_->text("cat", "request");
      object_->natural("tid", at);
      object_->time("ts", time);
      object_->id("id", id);
      if (phase == "f") object_->text("bp", "e");
      end_entry();
    };
    write_end("s", call.track, call.start);
    write_end("f", track, event.start);
  }

  void count_bytes(const Event& event, Rates& rates, std::string_view name) {
    std::int64_t bin = event.start / kBin;
    if (event.start % kBin < 0) --bin;
    if (bin != rates.bin) {
      close_bin(event.process, rates, name);
      rates = {bin, 0, 0};
    }
    std::int64_t& bytes = event.kind == Kind::kRead ? rates.read : rates.written;
    if (__builtin_add_overflow(bytes, event.moved(), &bytes)) bytes = std::numeric_limits<std::int64_t>::max();
  }

  /// Writes the interval that has ended, and zero from its end on.
  void close_bin(std::uint64_t process, const Rates& rates, std::string_view name) {
    if (rates.bin == std::numeric_limits<std::int64_t>::min()) return;
    emit_rates(process, rates.bin, rates.read, rates.written, name);
    emit_rates(process, rates.bin + 1, 0, 0, name);
  }

  void emit_rates(std::uint64_t process, std::int64_t bin, std::int64_t read, std::int64_t written,
                  std::string_view name) {
    const auto rate = [](std::int64_t bytes) {  // bytes in 10 ms to bytes per second
      std::int64_t scaled = 0;
      return __builtin_mul_overflow(bytes, 1'000'000'000 / kBin, &scaled) ? std::numeric_limits<std::int64_t>::max()
                                                                          : scaled;
    };
    std::int64_t time = 0;
    if (__builtin_mul_overflow(bin, kBin, &time)) return;
    begin_entry("C", name, process);
    object_->time("ts", time);
    add_args([&](Object& inner) {
      inner.number("read", rate(read));
      inner.number("written", rate(written));
    });
    end_entry();
  }

  std::unique_ptr<Sink> sink_;
  std::unordered_map<std::uint32_t, ProcessState> processes_;
  std::vector<LogicalRequest> recent_requests_;
  std::string json_;
  std::string flags_text_;  // text of the flags
  std::uint16_t flags_of_text_ = 0;
  std::optional<Object> object_;
  std::uint64_t asynchronous_ = 0;
  std::uint64_t arrows_ = 0;
  bool is_first_entry_ = true;
  std::size_t counters_lost_ = 0;
};

std::unique_ptr<Writer> create(std::unique_ptr<Sink> sink, const WriteOptions&) {
  return std::make_unique<PerfettoWriter>(std::move(sink));
}

}  // namespace

}  // namespace perfetto

constinit const Format kPerfetto{
    .name = "perfetto", .suffix = ".json", .recognise = nullptr, .open = nullptr, .create = perfetto::create};

}  // namespace plait::trace
