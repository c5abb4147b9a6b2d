#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "trace/formats/import/block.hpp"
#include "trace/formats/import/block_requests.hpp"
#include "trace/formats/import/import.hpp"
#include "trace/words.hpp"

namespace plait::trace {

namespace {

enum class Column : std::uint8_t {
  kNone,
  kTime,
  kOp,
  kOffset,
  kLba,
  kObject,
  kSize,
  kBlocks,
  kDuration,
  kHost,
  kDevice,
  kAction
};

struct Name {
  std::string_view word;
  Column column;
  std::int64_t unit = 0;  // in ns, if the name implies it
};

// Words of first lines and of the option `columns`. Traces of caches and of block devices agree on none of them.
constexpr std::array kNames{
    Name{"time", Column::kTime},
    Name{"timestamp", Column::kTime},
    Name{"ts", Column::kTime},
    Name{"clock_time", Column::kTime},
    Name{"time_s", Column::kTime, 1'000'000'000},
    Name{"time_ms", Column::kTime, 1'000'000},
    Name{"timestamp_ms", Column::kTime, 1'000'000},
    Name{"time_us", Column::kTime, 1000},
    Name{"timestamp_us", Column::kTime, 1000},
    Name{"time_ns", Column::kTime, 1},
    Name{"timestamp_ns", Column::kTime, 1},
    Name{"op", Column::kOp},
    Name{"opcode", Column::kOp},
    Name{"operation", Column::kOp},
    Name{"type", Column::kOp},
    Name{"rw", Column::kOp},
    Name{"rwbs", Column::kOp},
    Name{"offset", Column::kOffset},
    Name{"address", Column::kOffset},
    Name{"lba", Column::kLba},
    Name{"lbn", Column::kLba},
    Name{"sector", Column::kLba},
    Name{"block", Column::kLba},
    Name{"obj_id", Column::kObject},
    Name{"object", Column::kObject},
    Name{"key", Column::kObject},
    Name{"size", Column::kSize},
    Name{"length", Column::kSize},
    Name{"len", Column::kSize},
    Name{"bytes", Column::kSize},
    Name{"obj_size", Column::kSize},
    Name{"blocks", Column::kBlocks},
    Name{"sectors", Column::kBlocks},
    Name{"nr_sectors", Column::kBlocks},
    Name{"duration", Column::kDuration},
    Name{"latency", Column::kDuration},
    Name{"response", Column::kDuration},
    Name{"responsetime", Column::kDuration},
    Name{"response_time", Column::kDuration},
    Name{"host", Column::kHost},
    Name{"hostname", Column::kHost},
    Name{"device", Column::kDevice},
    Name{"device_id", Column::kDevice},
    Name{"disk", Column::kDevice},
    Name{"disknumber", Column::kDevice},
    Name{"disk_number", Column::kDevice},
    Name{"volume", Column::kDevice},
    Name{"action", Column::kAction},
};

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kUnixEpoch = 116'444'736'000'000'000;  // 1970 in units of 100 ns since 1601
constexpr std::size_t kMaxDevices = 1 << 16;

std::string lower(std::string_view text) {
  std::string out(trimmed(text));
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

const Name* find_name(std::string_view word) {
  const std::string lower_case = lower(word);
  const auto entry =
      std::find_if(kNames.begin(), kNames.end(), [&](const Name& name) { return name.word == lower_case; });
  return entry == kNames.end() ? nullptr : &*entry;
}

std::vector<std::string_view> split(std::string_view line, char separator) {
  if (separator == ' ') return split_words(line);
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t end = std::min(line.find(separator), line.size());
    fields.push_back(trimmed(line.substr(0, end)));
    if (end == line.size()) return fields;
    line.remove_prefix(end + 1);
  }
}

char detect_separator(std::string_view line) {
  char best = ',';
  std::ptrdiff_t max_count = 0;
  for (const char separator : {',', '\t', ';', '|', ' '}) {
    const std::ptrdiff_t count = std::count(line.begin(), line.end(), separator);
    if (count > max_count) best = separator, max_count = count;
  }
  return best;
}

/// The meaning of the columns of a trace.
struct Columns {
  std::vector<Column> kinds;
  std::int64_t unit = 0;  // unit of times in ns; 0: unknown
  bool has(Column kind) const { return std::find(kinds.begin(), kinds.end(), kind) != kinds.end(); }
  bool addressed() const { return has(Column::kOffset) || has(Column::kLba) || has(Column::kObject); }
};

Columns find_columns(const std::vector<std::string_view>& words) {
  Columns columns;
  for (const std::string_view word : words) {
    const Name* name = find_name(word);
    columns.kinds.push_back(name == nullptr ? Column::kNone : name->column);
    if (name != nullptr && name->unit != 0) columns.unit = name->unit;
  }
  return columns;
}

/// True for the traces of Microsoft Research in Cambridge, which have no header line: time in 100 ns since 1601,
/// host, disk, Read or Write, offset, bytes, response time in 100 ns.
bool is_cambridge(const std::vector<std::string_view>& fields) {
  return fields.size() == 7 && fields[0].size() >= 17 && whole_number(fields[0]) && whole_number(fields[4]) &&
         whole_number(fields[5]) && whole_number(fields[6]) &&
         (lower(fields[3]) == "read" || lower(fields[3]) == "write");
}

Columns cambridge() {
  return {
      {Column::kTime, Column::kHost, Column::kDevice, Column::kOp, Column::kOffset, Column::kSize, Column::kDuration},
      100};
}

class BlkcsvReader final : public Import {
 public:
  BlkcsvReader(std::unique_ptr<Source> source, const ReadOptions& options)
      : Import(std::move(source), "blkcsv", 4096, 1 << 16),
        requests_([this](const Event& event) { put(event); }),
        block_(std::max<std::int64_t>(options.block, 1)) {
    std::string_view head = this->source().peek(std::size_t{1} << 16);
    has_actions_ = is_blkparse(head);
    head = head.substr(0, std::min(head.find('\n'), head.size()));
    separator_ = options.separator != 0 ? options.separator : detect_separator(head);
    const std::vector<std::string_view> first = split(head, separator_);
    if (!options.columns.empty()) {
      columns_ = parse_columns(options.columns);
    } else if (is_cambridge(first)) {
      columns_ = cambridge();
      from_1601_ = true;
    } else {
      columns_ = find_columns(first);
      std::string_view skipped;
      if (!columns_.addressed() || !columns_.has(Column::kTime)) {
        if (head.empty()) return;
        base::throw_argument_error(
            this->source().name(), ": the first line, ", shown(head),
            ", does not name a time and an offset, lba or object; say what the columns hold, as in "
            "--columns time,op,lba,size, with - for what is to be left out");
      }
      this->source().read_line(skipped);
    }
    if (options.tick > 0) columns_.unit = options.tick;
    guessed_unit_ = columns_.unit == 0;
    if (guessed_unit_) columns_.unit = kSecond;
    description_.tick = columns_.unit;
    add_process(1);
  }

 private:
  static Columns parse_columns(const std::string& text) {
    const std::vector<std::string_view> words = split(text, ',');
    const Columns columns = find_columns(words);
    for (std::size_t k = 0; k < words.size(); ++k)
      if (columns.kinds[k] == Column::kNone && words[k] != "-")
        base::throw_argument_error(
            "columns of a block trace are time, op, offset, lba, object, size, blocks, duration, host, "
            "device, action and -, not '",
            words[k], "'");
    if (!columns.addressed()) base::throw_argument_error("the columns '", text, "' include no offset, lba or object");
    return columns;
  }

  bool advance() override {
    std::string_view line;
    if (!source().read_line(line)) return false;
    if (trimmed(line).empty() || trimmed(line).front() == '#') return true;
    const bool whole = source().line_had_newline();
    if (!understand(line) && !(source().lines() == 1 && is_header(line))) {
      if (whole)
        not_understood(line, source().lines());
      else
        cut_off(line);
    }
    return true;
  }

  // True for a line of names, which may exist even if the option `columns` is set.
  bool is_header(std::string_view line) const {
    return std::none_of(line.begin(), line.end(), [](char c) { return c >= '0' && c <= '9'; });
  }

  bool understand(std::string_view line) {
    const std::vector<std::string_view> fields = split(line, separator_);
    Event event;
    event.interface = Interface::kBlock;
    event.flags = 0;
    event.process = event.thread = 1;
    std::int64_t time = untimed_;
    std::string_view host;
    std::string_view device;
    std::string action;
    if (fields.size() < columns_.kinds.size()) return false;
    for (std::size_t k = 0; k < columns_.kinds.size(); ++k) {
      const Column kind = columns_.kinds[k];
      const std::string_view field = fields[k];
      if (kind == Column::kNone) continue;
      if (kind == Column::kAction) {
        action = lower(field);
      } else if (kind == Column::kHost) {
        host = field;
      } else if (kind == Column::kDevice) {
        device = field;
      } else if (kind == Column::kOp) {
        if (!operation(field, event)) return false;
      } else {
        if (kind == Column::kTime) {
          if (!parse_time(field, time)) return false;
          continue;
        }
        const bool timed = kind == Column::kDuration;
        const bool blocks = kind == Column::kLba || kind == Column::kBlocks;
        const auto value = scaled_number(field, timed ? columns_.unit : blocks ? block_ : 1);
        if (!value) return false;
        if (kind == Column::kDuration) event.duration = *value;
        if (kind == Column::kOffset || kind == Column::kLba) event.offset = *value;
        if (kind == Column::kObject) event.offset = *value > kMaxValue >> 20 ? kMaxValue : *value << 20;
        if (kind == Column::kSize || kind == Column::kBlocks) event.length = event.result = *value;
      }
    }
    if (operations_++ == 0) first_ = time;
    untimed_ = std::min(kMaxValue, untimed_ + 1000);
    event.start = std::max<std::int64_t>(time - first_, 0);
    if (time < first_) ++before_;
    event.operation = operations_;
    event.file = file(host, device);
    if (columns_.has(Column::kAction))
      take(action, event);
    else
      put(event);
    return true;
  }

  /// Combines the lines of one request, as blktrace writes them.
  void take(const std::string& action, const Event& event) {
    using Action = BlockRequests::Action;
    understood();
    if (action == "q" || action == "queue" || action == "queued") requests_.take(Action::kQueued, event);
    if (action == "d" || action == "issue" || action == "issued") requests_.take(Action::kIssued, event);
    if (action == "r" || action == "requeue" || action == "requeued") requests_.take(Action::kRequeued, event);
    if (action == "c" || action == "complete" || action == "completed") requests_.take(Action::kCompleted, event);
  }

  std::int64_t horizon() const override {
    return columns_.has(Column::kAction) ? requests_.horizon() : Import::horizon();
  }

  /// Whole units are counted from those of the first time, because times since 1601 in 100 ns exceed 64 bits of ns.
  bool parse_time(std::string_view field, std::int64_t& time) {
    const std::size_t point = std::min(field.find('.'), field.size());
    const auto whole = whole_number(field.substr(0, point));
    const auto fraction = scaled_number(base::text("0", field.substr(point)), columns_.unit);
    if (!whole || !fraction) return false;
    if (base_ < 0) {
      base_ = *whole;
      if (from_1601_ && base_ > kUnixEpoch) description_.zero = std::min(base_ - kUnixEpoch, kMaxValue / 100) * 100;
    }
    const std::int64_t limit = kMaxValue / columns_.unit;
    time = std::clamp(*whole - base_, -limit, limit) * columns_.unit + *fraction;
    return true;
  }

  static bool operation(std::string_view field, Event& event) {
    const std::string word = lower(field);
    if (word.empty()) return false;
    if (word == "0" || word.front() == 'r' || word == "get" || word == "28" || word == "88")
      event.kind = Kind::kRead;
    else if (word == "1" || word.front() == 'w' || word == "set" || word == "put" || word == "2a" || word == "8a")
      event.kind = Kind::kWrite;
    else if (word.front() == 'f' || word == "sync")
      event.kind = Kind::kSync;
    else if (word.front() == 'd' || word == "trim")
      event.kind = Kind::kMetadata;
    else
      return false;
    return true;
  }

  std::uint32_t file(std::string_view host, std::string_view device) {
    std::string name = host.empty() ? std::string(device) : base::text(host, device.empty() ? "" : "/", device);
    const auto entry = files_.find(name);
    if (entry != files_.end()) return entry->second;
    if (files_.size() >= kMaxDevices) return 0;
    const auto number = static_cast<std::uint32_t>(files_.size() + 1);
    description_.files.push_back({1, number, name.empty() ? "disk" : name});
    return files_[std::move(name)] = number;
  }

  void finish() override {
    requests_.finish();
    if (requests_.unfinished() > 0)
      note(count_text(requests_.unfinished(), "request was not completed; how long it took is not known",
                      "requests were not completed; how long they took is not known"));
    if (has_actions_ && !columns_.has(Column::kAction))
      note(
          "this is a text of blkparse, which has several lines for one request, and each was taken for a request: "
          "import it as blktrace, or name the column action");
    if (guessed_unit_ && columns_.has(Column::kTime)) note("times were taken to be seconds; --tick says otherwise");
    if (operations_ > 0 && !columns_.has(Column::kTime)) note("this trace has no times; requests stand 1 us apart");
    if (operations_ > 0 && !columns_.has(Column::kOp))
      note("this trace has no operations; all requests are shown as reads");
    if (columns_.has(Column::kObject))
      note("object N is shown as the bytes from N MiB on; objects of 2^40 and above share one offset");
    if (!columns_.has(Column::kDuration) && !columns_.has(Column::kAction))
      note("this trace does not tell how long requests took");
    if (before_ > 0)
      note(count_text(before_, "request is before the first and stands at its time",
                      "requests are before the first and stand at its time"));
  }

  BlockRequests requests_;
  char separator_ = ',';
  std::int64_t block_;
  Columns columns_;
  bool has_actions_ = false;
  bool guessed_unit_ = false;
  bool from_1601_ = false;
  std::int64_t base_ = -1;
  std::int64_t first_ = 0;
  std::int64_t before_ = 0;
  std::int64_t untimed_ = 0;
  std::uint64_t operations_ = 0;
  std::map<std::string, std::uint32_t> files_;
};

bool recognise(std::string_view head) {
  const std::string_view line = head.substr(0, std::min(head.find('\n'), head.size()));
  if (line.size() > 4096) return false;
  const std::vector<std::string_view> first = split(line, detect_separator(line));
  if (is_cambridge(first)) return true;
  // A header line such as time,op,offset,size may belong to the format csv as well.
  const Columns columns = find_columns(first);
  const bool of_blocks = columns.has(Column::kLba) || columns.has(Column::kObject) || columns.has(Column::kBlocks) ||
                         columns.has(Column::kDevice);
  return columns.has(Column::kTime) && columns.addressed() && of_blocks && first.size() >= 3;
}

std::unique_ptr<Reader> open(std::unique_ptr<Source> source, const ReadOptions& options) {
  return std::make_unique<BlkcsvReader>(std::move(source), options);
}

}  // namespace

Format blkcsv_format() { return {.name = "blkcsv", .suffix = "", .recognise = recognise, .open = open}; }

}  // namespace plait::trace
