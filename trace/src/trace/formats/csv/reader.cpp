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

constexpr std::uint64_t kMaxNumber = std::numeric_limits<std::uint32_t>::max();

bool blank(std::string_view line) { return line.find_first_not_of(" \t") == std::string_view::npos; }

/// True if the line has an odd number of quotes, so that a quoted cell begins or ends in it. A quote within a cell is
/// doubled and does not change this.
bool odd_quotes(std::string_view line) { return std::count(line.begin(), line.end(), '"') % 2 != 0; }

class CsvReader : public LineReader {
 public:
  CsvReader(std::unique_ptr<Source> lines, const ReadOptions& options)
      : LineReader(std::move(lines), "csv"),
        tick_(options.tick == 0 ? 1 : options.tick),
        tick_is_given_(options.tick != 0) {
    if (tick_ < 1 || tick_ > kMaxTick)
      base::throw_argument_error("a unit of time has 1 ns to ", kMaxTick, " ns, not ", tick_);
    std::string_view line;
    while (true) {
      if (!source().read_line(line)) fail("there is no header line");
      if (line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
      if (blank(line)) continue;
      if (line.front() != '#') break;
      take_remark_line(line.substr(1));
    }
    separator_ = options.separator == 0 ? detect_separator(line) : options.separator;
    if (!split(line, separator_, cells_, store_)) fail("the header has a quote without its other half");
    columns_ = find_columns(cells_);
    if (!has(columns_, Column::kStart) || !has(columns_, Column::kKind))
      fail("the header needs at least the columns start and kind; it is '", line.substr(0, 200), "'");
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (columns_[i] == Column::kNone) note(base::text("the column '", printable(cells_[i]), "' is not read"));
    has_result_ = has(columns_, Column::kResult);
  }

 private:
  bool take_line(std::string_view line, Event& event) override {
    if (blank(line)) return false;
    if (line.front() == '#') {
      take_remark_line(line.substr(1));
      return false;
    }
    if (odd_quotes(line)) {
      long_line_ = line;  // a quoted cell continues in the next line
      std::string_view more;
      do {
        if (long_line_.size() > Source::kMaxLineBytes) fail("a quote has no other half");
        if (!source().read_line(more)) {
          cut_ = true;
          return false;
        }
        long_line_ += '\n';
        long_line_ += more;
      } while (!odd_quotes(more));
      line = long_line_;
    }
    split(line, separator_, cells_, store_);
    if (source().line_had_newline()) {
      take_cells(event);
      return true;
    }
    if (ours_) {  // Plait ends its lines: numbers of this line may lack digits
      cut_ = true;
      return false;
    }
    try {
      take_cells(event);
      return true;
    } catch (const Error&) {
      cut_ = true;
      return false;
    }
  }

  void take_cells(Event& event) {
    if (cells_.size() != columns_.size())
      fail("there are ", cells_.size(), " cells, and ", columns_.size(), " columns in the header");
    event = Event();
    std::string_view name;
    bool no_result = false;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const std::string_view cell = cells_[i];
      switch (columns_[i]) {
        case Column::kStart: event.start = time(cell, 0, "start"); break;
        case Column::kDuration: event.duration = time(cell, kUnknown, "duration"); break;
        case Column::kCpu: event.cpu = time(cell, kUnknown, "cpu"); break;
        case Column::kProcess: event.process = natural32(cell, "process"); break;
        case Column::kThread: event.thread = natural32(cell, "thread"); break;
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
        case Column::kOffset: event.offset = number(cell, kUnknown, "offset"); break;
        case Column::kLength: event.length = number(cell, 0, "length"); break;
        case Column::kResult:
          event.result = number(cell, 0, "result");
          no_result = cell.empty();
          break;
        case Column::kOperation: event.operation = cell.empty() ? 0 : natural(cell, UINT64_MAX, "operation"); break;
        case Column::kFlags: event.flags = flags(cell); break;
        case Column::kName: name = cell; break;
        case Column::kNone: break;
      }
    }
    if ((!has_result_ || no_result) && (event.kind == Kind::kRead || event.kind == Kind::kWrite)) {
      event.result = event.length;
      without_result_ += has_result_ ? 1 : 0;
    }
    if (event.process != last_process_ || !any_) report_process(event.process);
    last_process_ = event.process;
    if (!name.empty()) report_file(event, name);
    late_ += any_ && event.start < last_start_ ? 1 : 0;
    last_start_ = event.start;
    any_ = true;
  }

  std::uint64_t natural(std::string_view cell, std::uint64_t maximum, std::string_view column) const {
    const auto value = to_natural(cell, maximum);
    if (!value) fail("the column ", column, " holds '", printable(cell), "'; expected a number of at most ", maximum);
    return *value;
  }
  std::uint32_t natural32(std::string_view cell, std::string_view column) const {
    return cell.empty() ? 0 : static_cast<std::uint32_t>(natural(cell, kMaxNumber, column));
  }
  std::int64_t number(std::string_view cell, std::int64_t missing, std::string_view column) const {
    if (cell.empty()) return missing;
    const auto value = to_number(cell);
    if (!value) fail("the column ", column, " holds '", printable(cell), "'; expected a whole number");
    return *value;
  }

  /// Parses whole units and decimals exactly; a number with an exponent is rounded to the precision of a double.
  std::int64_t time(std::string_view cell, std::int64_t missing, std::string_view column) const {
    if (cell.empty()) return missing;
    const bool negative = cell.front() == '-';
    const char* at = cell.data() + (negative ? 1 : 0);
    const char* const end = cell.data() + cell.size();
    std::int64_t value = 0;
    bool good = at != end && *at >= '0' && *at <= '9';
    bool large = false;
    for (; at != end && *at >= '0' && *at <= '9'; ++at) {
      const std::int64_t digit = negative ? '0' - *at : *at - '0';
      large = __builtin_mul_overflow(value, std::int64_t{10}, &value) || __builtin_add_overflow(value, digit, &value) ||
              large;
    }
    large = __builtin_mul_overflow(value, tick_, &value) || large;
    if (at != end && *at == '.') {
      std::int64_t unit = tick_;
      for (++at; at != end && *at >= '0' && *at <= '9'; ++at) {
        const std::int64_t part = (unit * (*at - '0')) / 10;  // decimals below 1 ns are ignored
        large = __builtin_add_overflow(value, negative ? -part : part, &value) || large;
        unit /= 10;
      }
    }
    if (good && !large && at == end) return value;
    double real = 0;
    const auto parsed = std::from_chars(cell.data(), end, real);
    good = parsed.ec == std::errc() && parsed.ptr == end && std::abs(real * static_cast<double>(tick_)) < 9e18;
    if (!good || large) fail("the column ", column, " holds '", printable(cell), "'; expected a time");
    return std::llround(real * static_cast<double>(tick_));
  }

  std::uint16_t flags(std::string_view cell) {
    if (cell == flags_text_) return flags_;
    const auto value = parse_flags(cell);
    if (!value) fail("the column flags holds '", printable(cell), "'; expected words such as logical|direct");
    flags_text_ = cell;
    return flags_ = *value;
  }

  void report_file(Event& event, std::string_view name) {
    if (has(columns_, Column::kFile) && event.file != 0) {
      if (!files_.insert({event.process, event.file}).second) return;
    } else {
      const auto [entry, added] = numbers_.try_emplace({event.process, std::string(name)}, next_file_);
      event.file = entry->second;
      if (!added) return;
      ++next_file_;
    }
    description_.files.push_back({event.process, event.file, std::string(name)});
  }

  void take_remark_line(std::string_view text) {
    if (text.starts_with(' ')) text.remove_prefix(1);
    if (!ours_ && text.starts_with(kHead)) {
      ours_ = true;
      Pairs pairs(text.substr(kHead.size()));
      std::string_view key;
      std::string_view value;
      while (pairs.next(key, value)) {
        if (key == "version" && value != "1")
          fail("the trace is of Plait's version ", printable(value), " of CSV; this Plait reads version 1");
        if (key == "tick" && !tick_is_given_ && (!parse_number(value, tick_) || tick_ < 1 || tick_ > kMaxTick))
          fail("the unit of time is '", printable(value), "' ns; expected at least 1");
      }
      return;
    }
    if (!ours_) {
      if (comments_++ < 64) note(base::text("comment: ", printable(text)));
      return;
    }
    if (!source().line_had_newline()) {
      cut_ = true;
      return;
    }
    Pairs pairs(text);
    const std::string_view keyword = pairs.word();
    if (take_comment_of_ours(keyword, pairs) == RemarkStatus::kWrong)
      fail("the comment cannot be understood: ", printable(text));
  }

  bool ends_itself() const override { return ours_; }

  void note_counts() override {
    if (without_result_ > 0)
      note(count_text(without_result_, "read or write has no result; it is taken to have moved all of it",
                      "reads and writes have no result; they are taken to have moved all of it"));
    if (late_ > 0 && !ours_)
      note(count_text(late_, "event starts before the one in front of it",
                      "events start before the one in front of them"));
  }

  std::int64_t tick_;
  bool tick_is_given_;
  char separator_ = ',';
  std::vector<Column> columns_;
  std::vector<std::string_view> cells_;
  std::vector<std::string> store_;
  std::string long_line_;
  std::string flags_text_ = "logical";
  std::uint16_t flags_ = flag::kLogical;
  std::set<std::pair<std::uint32_t, std::uint32_t>> files_;
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> numbers_;
  std::uint32_t next_file_ = 1;
  std::uint32_t last_process_ = 0;
  std::int64_t last_start_ = 0;
  std::int64_t late_ = 0;
  std::int64_t without_result_ = 0;
  std::size_t comments_ = 0;
  bool has_result_ = false;
  bool any_ = false;
  bool ours_ = false;
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
    if (line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (blank(line) || line.front() == '#') continue;
    std::vector<std::string_view> cells;
    std::vector<std::string> store;
    if (!split(line, separator == 0 ? detect_separator(line) : separator, cells, store)) return false;
    const std::vector<Column> columns = find_columns(cells);
    return has(columns, Column::kStart) && has(columns, Column::kKind) && has(columns, Column::kOffset) &&
           has(columns, Column::kLength);
  }
  return false;
}

}  // namespace plait::trace::csv
