// Reads traces in CSV. The file column has numbers, or names, to which this reader gives numbers.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "base/errors.hpp"
#include "plait/error.hpp"
#include "trace/formats/csv/columns.hpp"
#include "trace/formats/csv/csv.hpp"
#include "trace/formats/line_reader.hpp"
#include "trace/formats/remarks.hpp"
#include "trace/words.hpp"

namespace plait::trace::csv {

namespace {

constexpr std::uint64_t kMaxNumber = std::numeric_limits<std::uint32_t>::max();  // of processes, threads and files
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";                      // Windows programs begin UTF-8 with it
constexpr std::size_t kMaxComments = 64;                                         // of other tools, shown as notes

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t") == std::string_view::npos; }

/// True if the line has an odd number of quotes, so that a quoted cell begins or ends in it. A quote within a cell is
/// doubled and does not change this.
bool has_odd_quotes(std::string_view line) { return std::count(line.begin(), line.end(), '"') % 2 != 0; }

class CsvReader : public LineReader {
 public:
  CsvReader(std::unique_ptr<Source> lines, const ReadOptions& options)
      : LineReader(std::move(lines), "csv"),
        tick_(options.tick == 0 ? 1 : options.tick),
        has_tick_option_(options.tick != 0) {
    if (tick_ < 1 || tick_ > kMaxTick)
      base::throw_argument_error("a unit of time has 1 ns to ", kMaxTick, " ns, not ", tick_);
    std::string_view line;
    while (true) {
      if (!source().read_line(line)) fail("there is no header line");
      if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
      if (is_blank(line)) continue;
      if (line.front() != '#') break;
      take_comment(line.substr(1));
    }
    separator_ = options.separator == 0 ? detect_separator(line) : options.separator;
    if (!split(line, separator_, cells_, unquoted_)) fail("the header has a quote without its other half");
    columns_ = find_columns(cells_);
    if (!has_column(columns_, Column::kStart) || !has_column(columns_, Column::kKind))
      fail("the header needs at least the columns start and kind; it is '", line.substr(0, 200), "'");
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (columns_[i] == Column::kNone) note(base::text("the column '", printable(cells_[i]), "' is not read"));
    has_result_ = has_column(columns_, Column::kResult);
  }

 private:
  bool take_line(std::string_view line, Event& event) override {
    if (is_blank(line)) return false;
    if (line.front() == '#') {
      take_comment(line.substr(1));
      return false;
    }
    if (has_odd_quotes(line)) {
      joined_line_ = line;  // a quoted cell continues in the next line
      std::string_view more;
      do {
        if (joined_line_.size() > Source::kMaxLineBytes) fail("a quote has no other half");
        if (!source().read_line(more)) {
          is_cut_off_ = true;
          return false;
        }
        joined_line_ += '\n';
        joined_line_ += more;
      } while (!has_odd_quotes(more));
      line = joined_line_;
    }
    split(line, separator_, cells_, unquoted_);
    if (source().line_had_newline()) {
      parse_cells(event);
      return true;
    }
    if (is_from_plait_) {  // Plait ends its lines, so numbers of this one may lack digits
      is_cut_off_ = true;
      return false;
    }
    try {
      parse_cells(event);
      return true;
    } catch (const Error&) {
      is_cut_off_ = true;
      return false;
    }
  }

  void parse_cells(Event& event) {
    if (cells_.size() != columns_.size())
      fail("there are ", cells_.size(), " cells, and ", columns_.size(), " columns in the header");
    event = Event();
    std::string_view name;
    bool has_empty_result = false;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const std::string_view cell = cells_[i];
      switch (columns_[i]) {
        case Column::kStart: event.start = read_time(cell, 0, "start"); break;
        case Column::kDuration: event.duration = read_time(cell, kUnknown, "duration"); break;
        case Column::kCpu: event.cpu = read_time(cell, kUnknown, "cpu"); break;
        case Column::kProcess: event.process = read_natural32(cell, "process"); break;
        case Column::kThread: event.thread = read_natural32(cell, "thread"); break;
        case Column::kFile:
          if (const auto number = to_natural(cell, kMaxNumber))
            event.file = static_cast<std::uint32_t>(*number);
          else if (name.empty())
            name = cell;
          break;
        case Column::kKind:
          if (const auto kind = parse_kind(cell))
            event.kind = *kind;
          else
            fail("'", printable(cell), "' is not a kind of event; expected read, write, open, close or the like");
          break;
        case Column::kInterface:
          if (const auto interface = parse_interface(cell))
            event.interface = *interface;
          else
            fail("'", printable(cell), "' is not an interface; expected posix, stdio, mpi-io, plait or the like");
          break;
        case Column::kOffset: event.offset = read_number(cell, kUnknown, "offset"); break;
        case Column::kLength: event.length = read_number(cell, 0, "length"); break;
        case Column::kResult:
          event.result = read_number(cell, 0, "result");
          has_empty_result = cell.empty();
          break;
        case Column::kOperation:
          event.operation = cell.empty() ? 0 : read_natural(cell, UINT64_MAX, "operation");
          break;
        case Column::kFlags: event.flags = read_flags(cell); break;
        case Column::kName: name = cell; break;
        case Column::kNone: break;
      }
    }
    if ((!has_result_ || has_empty_result) && (event.kind == Kind::kRead || event.kind == Kind::kWrite)) {
      event.result = event.length;
      missing_results_ += has_result_ ? 1 : 0;
    }
    if (event.process != last_process_ || !has_event_) report_process(event.process);
    last_process_ = event.process;
    if (!name.empty()) report_file(event, name);
    out_of_order_ += has_event_ && event.start < last_start_ ? 1 : 0;
    last_start_ = event.start;
    has_event_ = true;
  }

  std::uint64_t read_natural(std::string_view cell, std::uint64_t maximum, std::string_view column) const {
    const auto value = to_natural(cell, maximum);
    if (!value) fail("the column ", column, " holds '", printable(cell), "'; expected a number of at most ", maximum);
    return *value;
  }
  std::uint32_t read_natural32(std::string_view cell, std::string_view column) const {
    return cell.empty() ? 0 : static_cast<std::uint32_t>(read_natural(cell, kMaxNumber, column));
  }
  std::int64_t read_number(std::string_view cell, std::int64_t missing, std::string_view column) const {
    if (cell.empty()) return missing;
    const auto value = to_number(cell);
    if (!value) fail("the column ", column, " holds '", printable(cell), "'; expected a whole number");
    return *value;
  }

  /// Parses whole units and decimals exactly; a number with an exponent is rounded to the precision of a double.
  std::int64_t read_time(std::string_view cell, std::int64_t missing, std::string_view column) const {
    if (cell.empty()) return missing;
    const bool negative = cell.front() == '-';
    const char* at = cell.data() + (negative ? 1 : 0);
    const char* const end = cell.data() + cell.size();
    std::int64_t value = 0;
    bool is_number = at != end && *at >= '0' && *at <= '9';
    bool is_too_large = false;
    for (; at != end && *at >= '0' && *at <= '9'; ++at) {
      const std::int64_t digit = negative ? '0' - *at : *at - '0';
      is_too_large = __builtin_mul_overflow(value, std::int64_t{10}, &value) ||
                     __builtin_add_overflow(value, digit, &value) || is_too_large;
    }
    is_too_large = __builtin_mul_overflow(value, tick_, &value) || is_too_large;
    if (at != end && *at == '.') {
      std::int64_t unit = tick_;
      for (++at; at != end && *at >= '0' && *at <= '9'; ++at) {
        const std::int64_t part = (unit * (*at - '0')) / 10;  // decimals below 1 ns are ignored
        is_too_large = __builtin_add_overflow(value, negative ? -part : part, &value) || is_too_large;
        unit /= 10;
      }
    }
    if (is_number && !is_too_large && at == end) return value;
    double rounded = 0;
    const auto parsed = std::from_chars(cell.data(), end, rounded);
    is_number = parsed.ec == std::errc() && parsed.ptr == end && std::abs(rounded * static_cast<double>(tick_)) < 9e18;
    if (!is_number || is_too_large) fail("the column ", column, " holds '", printable(cell), "'; expected a time");
    return std::llround(rounded * static_cast<double>(tick_));
  }

  std::uint16_t read_flags(std::string_view cell) {
    if (cell == last_flags_text_) return last_flags_;
    const auto value = parse_flags(cell);
    if (!value) fail("the column flags holds '", printable(cell), "'; expected words such as logical|direct");
    last_flags_text_ = cell;
    return last_flags_ = *value;
  }

  /// Adds the file to the description if it is new. If the trace has only names of files, sets the event's number.
  void report_file(Event& event, std::string_view name) {
    if (has_column(columns_, Column::kFile) && event.file != 0) {
      if (!reported_files_.insert({event.process, event.file}).second) return;
    } else {
      const auto [entry, is_new] = file_numbers_.try_emplace({event.process, std::string(name)}, next_file_);
      event.file = entry->second;
      if (!is_new) return;
      ++next_file_;
    }
    description_.files.push_back({event.process, event.file, std::string(name)});
  }

  void take_comment(std::string_view text) {
    if (text.starts_with(' ')) text.remove_prefix(1);
    if (!is_from_plait_ && text.starts_with(kHeadComment)) {
      is_from_plait_ = true;
      Pairs pairs(text.substr(kHeadComment.size()));
      std::string_view key;
      std::string_view value;
      while (pairs.next(key, value)) {
        if (key == "version" && value != "1")
          fail("the trace is of Plait's version ", printable(value), " of CSV; this Plait reads version 1");
        if (key == "tick" && !has_tick_option_ && (!parse_number(value, tick_) || tick_ < 1 || tick_ > kMaxTick))
          fail("the unit of time is '", printable(value), "' ns; expected at least 1");
      }
      return;
    }
    if (!is_from_plait_) {
      if (comment_count_++ < kMaxComments) note(base::text("comment: ", printable(text)));
      return;
    }
    if (!source().line_had_newline()) {
      is_cut_off_ = true;
      return;
    }
    Pairs pairs(text);
    const std::string_view keyword = pairs.word();
    if (take_plait_comment(keyword, pairs) == RemarkStatus::kInvalid)
      fail("the comment cannot be understood: ", printable(text));
  }

  bool has_end_comment() const override { return is_from_plait_; }

  void note_counts() override {
    if (missing_results_ > 0)
      note(count_text(missing_results_, "read or write has no result; it is taken to have moved all of it",
                      "reads and writes have no result; they are taken to have moved all of it"));
    if (out_of_order_ > 0 && !is_from_plait_)
      note(count_text(out_of_order_, "event starts before the one in front of it",
                      "events start before the one in front of them"));
  }

  std::int64_t tick_;
  bool has_tick_option_;
  char separator_ = ',';
  std::vector<Column> columns_;
  std::vector<std::string_view> cells_;
  std::vector<std::string> unquoted_;
  std::string joined_line_;  // a line whose quoted cells contain line ends
  std::string last_flags_text_ = "logical";
  std::uint16_t last_flags_ = flag::kLogical;
  std::set<std::pair<std::uint32_t, std::uint32_t>> reported_files_;
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> file_numbers_;  // by process and name
  std::uint32_t next_file_ = 1;
  std::uint32_t last_process_ = 0;
  std::int64_t last_start_ = 0;
  std::int64_t out_of_order_ = 0;  // number of events that start before the previous one
  std::int64_t missing_results_ = 0;
  std::size_t comment_count_ = 0;
  bool has_result_ = false;
  bool has_event_ = false;
  bool is_from_plait_ = false;
};

}  // namespace

std::unique_ptr<Reader> open(std::unique_ptr<Source> source, const ReadOptions& options) {
  return std::make_unique<CsvReader>(std::move(source), options);
}

bool looks_like(std::string_view head) { return looks_like(head, 0); }

bool looks_like(std::string_view head, char separator) {
  while (!head.empty()) {
    std::string_view line = head.substr(0, head.find('\n'));
    head.remove_prefix(std::min(head.size(), line.size() + 1));
    if (line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (is_blank(line) || line.front() == '#') continue;
    std::vector<std::string_view> cells;
    std::vector<std::string> unquoted;
    if (!split(line, separator == 0 ? detect_separator(line) : separator, cells, unquoted)) return false;
    const std::vector<Column> columns = find_columns(cells);
    return has_column(columns, Column::kStart) && has_column(columns, Column::kKind) &&
           has_column(columns, Column::kOffset) && has_column(columns, Column::kLength);
  }
  return false;
}

}  // namespace plait::trace::csv
