// Reads traces of block devices and object caches: one request in each line, or, with a column `action`, several lines.
// The first line or the option `columns` names the columns.

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

// Words of first lines and of the option `columns`. Each source of traces has other ones.
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

std::string to_lower(std::string_view text) {
  std::string out(trimmed(text));
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

const Name* find_name(std::string_view word) {
  const std::string lower_case = to_lower(word);
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
  bool has_address() const { return has(Column::kOffset) || has(Column::kLba) || has(Column::kObject); }
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
         (to_lower(fields[3]) == "read" || to_lower(fields[3]) == "write");
}

Columns make_cambridge_columns() {
  return {
      {Column::kTime, Column::kHost, Column::kDevice, Column::kOp, Column::kOffset, Column::kSize, Column::kDuration},
      100};
}

class BlkcsvReader final : public Import {
 public:
  BlkcsvReader(std::unique_ptr<Source> source, const ReadOptions& options)
      : Import(std::move(source), "blkcsv", /*slack=*/4096, /*window=*/1 << 16),
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
      columns_ = make_cambridge_columns();
      is_since_1601_ = true;
    } else {
      columns_ = find_columns(first);
      std::string_view header_line;
      if (!columns_.has_address() || !columns_.has(Column::kTime)) {
        if (head.empty()) return;
        base::throw_argument_error(
            this->source().name(), ": the first line, ", quote_excerpt(head),
            ", does not name a time and an offset, lba or object; say what the columns hold, as in "
            "--columns time,op,lba,size, with - for what is to be left out");
      }
      this->source().read_line(header_line);
    }
    if (options.tick > 0) columns_.unit = options.tick;
    has_guessed_unit_ = columns_.unit == 0;
    if (has_guessed_unit_) columns_.unit = kSecond;
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
    if (!columns.has_address()) base::throw_argument_error("the columns '", text, "' include no offset, lba or object");
    return columns;
  }

  bool advance() override {
    std::string_view line;
    if (!source().read_line(line)) return false;
    if (trimmed(line).empty() || trimmed(line).front() == '#') return true;
    const bool whole = source().line_had_newline();
    if (!parse_line(line) && !(source().lines() == 1 && is_header(line))) {
      if (whole)
        add_unknown_line(line, source().lines());
      else
        add_cut_off_line(line);
    }
    return true;
  }

  // True for a line of names, which may exist even if the option `columns` is set.
  bool is_header(std::string_view line) const {
    return std::none_of(line.begin(), line.end(), [](char c) { return c >= '0' && c <= '9'; });
  }

  bool parse_line(std::string_view line) {
    const std::vector<std::string_view> fields = split(line, separator_);
    Event event;
    event.interface = Interface::kBlock;
    event.flags = 0;
    event.process = event.thread = 1;
    std::int64_t time = next_time_;
    std::string_view host;
    std::string_view device;
    std::string action;
    if (fields.size() < columns_.kinds.size()) return false;
    for (std::size_t k = 0; k < columns_.kinds.size(); ++k) {
      const Column kind = columns_.kinds[k];
      const std::string_view field = fields[k];
      if (kind == Column::kNone) continue;
      if (kind == Column::kAction) {
        action = to_lower(field);
      } else if (kind == Column::kHost) {
        host = field;
      } else if (kind == Column::kDevice) {
        device = field;
      } else if (kind == Column::kOp) {
        if (!parse_operation(field, event)) return false;
      } else {
        if (kind == Column::kTime) {
          if (!parse_time(field, time)) return false;
          continue;
        }
        const bool is_duration = kind == Column::kDuration;
        const bool is_in_blocks = kind == Column::kLba || kind == Column::kBlocks;
        const auto value = scaled_number(field, is_duration ? columns_.unit : is_in_blocks ? block_ : 1);
        if (!value) return false;
        if (kind == Column::kDuration) event.duration = *value;
        if (kind == Column::kOffset || kind == Column::kLba) event.offset = *value;
        // Objects are 1 MiB apart, as in oracle.cpp.
        if (kind == Column::kObject) event.offset = *value > kMaxValue >> 20 ? kMaxValue : *value << 20;
        if (kind == Column::kSize || kind == Column::kBlocks) event.length = event.result = *value;
      }
    }
    if (operations_++ == 0) first_time_ = time;
    next_time_ = std::min(kMaxValue, next_time_ + 1000);  // 1 us
    event.start = std::max<std::int64_t>(time - first_time_, 0);
    if (time < first_time_) ++before_first_;
    event.operation = operations_;
    event.file = find_file(host, device);
    if (columns_.has(Column::kAction))
      take_action(action, event);
    else
      put(event);
    return true;
  }

  /// Combines the lines of one request, in the words of several tools.
  void take_action(const std::string& action, const Event& event) {
    using Action = BlockRequests::Action;
    mark_understood();
    if (action == "q" || action == "queue" || action == "queued") requests_.take(Action::kQueued, event);
    if (action == "d" || action == "issue" || action == "issued") requests_.take(Action::kIssued, event);
    if (action == "r" || action == "requeue" || action == "requeued") requests_.take(Action::kRequeued, event);
    if (action == "c" || action == "complete" || action == "completed") requests_.take(Action::kCompleted, event);
  }

  std::int64_t horizon() const override {
    return columns_.has(Column::kAction) ? requests_.horizon() : Import::horizon();
  }

  /// Sets the time since the first one. Whole units are subtracted before they become ns, because times since 1601
  /// exceed 64 bits of ns.
  bool parse_time(std::string_view field, std::int64_t& time) {
    const std::size_t point = std::min(field.find('.'), field.size());
    const auto whole = whole_number(field.substr(0, point));
    const auto fraction = scaled_number(base::text("0", field.substr(point)), columns_.unit);
    if (!whole || !fraction) return false;
    if (first_unit_ < 0) {
      first_unit_ = *whole;
      if (is_since_1601_ && first_unit_ > kUnixEpoch)
        description_.zero = std::min(first_unit_ - kUnixEpoch, kMaxValue / 100) * 100;
    }
    const std::int64_t limit = kMaxValue / columns_.unit;
    time = std::clamp(*whole - first_unit_, -limit, limit) * columns_.unit + *fraction;
    return true;
  }

  static bool parse_operation(std::string_view field, Event& event) {
    const std::string word = to_lower(field);
    if (word.empty()) return false;
    // 28, 88, 2a and 8a are the SCSI commands READ(10), READ(16), WRITE(10) and WRITE(16).
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

  std::uint32_t find_file(std::string_view host, std::string_view device) {
    std::string name = host.empty() ? std::string(device) : base::text(host, device.empty() ? "" : "/", device);
    const auto entry = file_numbers_.find(name);
    if (entry != file_numbers_.end()) return entry->second;
    if (file_numbers_.size() >= kMaxDevices) return 0;
    const auto number = static_cast<std::uint32_t>(file_numbers_.size() + 1);
    description_.files.push_back({1, number, name.empty() ? "disk" : name});
    return file_numbers_[std::move(name)] = number;
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
    if (has_guessed_unit_ && columns_.has(Column::kTime)) note("times were taken to be seconds; --tick says otherwise");
    if (operations_ > 0 && !columns_.has(Column::kTime)) note("this trace has no times; requests stand 1 us apart");
    if (operations_ > 0 && !columns_.has(Column::kOp))
      note("this trace has no operations; all requests are shown as reads");
    if (columns_.has(Column::kObject))
      note("object N is shown as the bytes from N MiB on; objects of 2^40 and above share one offset");
    if (!columns_.has(Column::kDuration) && !columns_.has(Column::kAction))
      note("this trace does not tell how long requests took");
    if (before_first_ > 0)
      note(count_text(before_first_, "request is before the first and stands at its time",
                      "requests are before the first and stand at its time"));
  }

  BlockRequests requests_;
  char separator_ = ',';
  std::int64_t block_;
  Columns columns_;
  bool has_actions_ = false;
  bool has_guessed_unit_ = false;
  bool is_since_1601_ = false;
  std::int64_t first_unit_ = -1;
  std::int64_t first_time_ = 0;
  std::int64_t before_first_ = 0;
  std::int64_t next_time_ = 0;
  std::uint64_t operations_ = 0;
  std::map<std::string, std::uint32_t> file_numbers_;
};

bool recognise(std::string_view head) {
  const std::string_view line = head.substr(0, std::min(head.find('\n'), head.size()));
  if (line.size() > 4096) return false;
  const std::vector<std::string_view> first = split(line, detect_separator(line));
  if (is_cambridge(first)) return true;
  // A header line such as time,op,offset,size may belong to the format csv as well.
  const Columns columns = find_columns(first);
  const bool has_block_column = columns.has(Column::kLba) || columns.has(Column::kObject) ||
                                columns.has(Column::kBlocks) || columns.has(Column::kDevice);
  return columns.has(Column::kTime) && columns.has_address() && has_block_column && first.size() >= 3;
}

std::unique_ptr<Reader> open(std::unique_ptr<Source> source, const ReadOptions& options) {
  return std::make_unique<BlkcsvReader>(std::move(source), options);
}

}  // namespace

Format blkcsv_format() { return {.name = "blkcsv", .suffix = "", .recognise = recognise, .open = open}; }

}  // namespace plait::trace
