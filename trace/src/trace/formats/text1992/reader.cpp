// Reads traces in the format of 1992. State has the values that a record may leave out.

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "plait/error.hpp"
#include "trace/formats/line_reader.hpp"
#include "trace/formats/text1992/dialect.hpp"
#include "trace/formats/text1992/extension.hpp"
#include "trace/formats/text1992/state.hpp"
#include "trace/formats/text1992/text1992.hpp"
#include "trace/words.hpp"

namespace plait::trace::text1992 {

namespace {

using NumberStatus = Numbers::NumberStatus;

constexpr std::uint64_t kMaxSigned = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kMaxNumber = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kMaxComments = 64;

class Reader1992 : public LineReader {
 public:
  Reader1992(std::unique_ptr<Source> lines, const ReadOptions& options)
      : LineReader(std::move(lines), "1992"), dialect_(detect_dialect(source().peek(std::size_t{1} << 16), options)) {
    description_.tick = dialect_.tick;
    if (dialect_.is_base_guessed)
      note(
          "the numbers fit base 10 and base 16, and were taken to be of base 16; the option for the base says "
          "otherwise");
  }

 private:
  bool take_line(std::string_view line, Event& event) override {
    if (line.empty()) return false;
    // Plait ends its lines, so numbers of a line without an end may lack digits.
    if (dialect_.is_from_plait && !source().line_had_newline()) {
      is_cut_off_ = true;
      return false;
    }
    if (!dialect_.comment.empty() && line.starts_with(dialect_.comment))
      return take_comment(line.substr(dialect_.comment.size()), event);
    if (line.front() == '#') return take_comment(line.substr(1), event);
    Numbers numbers(line, dialect_.base, dialect_.separator);
    std::uint64_t type = 0;
    const NumberStatus status = numbers.next(type);
    if (status == NumberStatus::kEnd) return false;
    if (status == NumberStatus::kNumber && type == record_type::kComment) return take_comment(numbers.rest(), event);
    if (!source().line_had_newline()) {
      try {
        take_record(numbers, status, type, event);
      } catch (const Error&) {
        is_cut_off_ = true;
        return false;
      }
      is_cut_off_ = true;
      return true;
    }
    take_record(numbers, status, type, event);
    return true;
  }

  /// Reads a number of a record, which is at most `maximum`.
  std::uint64_t read_number(Numbers& numbers, std::string_view field, std::uint64_t maximum) const {
    std::uint64_t value = 0;
    const NumberStatus status = numbers.next(value);
    if (status == NumberStatus::kNumber && value <= maximum) return value;
    if (status == NumberStatus::kNumber || status == NumberStatus::kTooLarge)
      fail("the field ", field, " is larger than ", maximum, ", the largest that there can be");
    if (status == NumberStatus::kEnd)
      fail("the record ends before its field ", field, "; its compression flags say that it is there");
    fail("expected the field ", field, ", a number of base ", dialect_.base, ", at '", numbers.rest().substr(0, 20),
         "'");
  }

  /// Returns a field in bytes or ns.
  std::int64_t scaled(std::uint64_t value, std::int64_t unit, std::string_view field) const {
    std::int64_t product = 0;
    if (value > kMaxSigned || __builtin_mul_overflow(static_cast<std::int64_t>(value), unit, &product))
      fail("the field ", field, ", ", value, " units of ", unit, ", is past 64 bits");
    return product;
  }

  /// Adds a field that is the difference to the value of an earlier record.
  std::int64_t add_difference(std::int64_t from, std::uint64_t difference, std::string_view field) const {
    std::int64_t sum = 0;
    if (difference > kMaxSigned || __builtin_add_overflow(from, static_cast<std::int64_t>(difference), &sum))
      fail("the times of the field ", field, " add up past 64 bits");
    return sum;
  }

  void take_record(Numbers& numbers, NumberStatus status, std::uint64_t type, Event& event) {
    if (status == NumberStatus::kTooLarge || (status == NumberStatus::kNumber && type > 0xff))
      fail("the record type is larger than 255; perhaps the numbers are not of base ", dialect_.base);
    if (status != NumberStatus::kNumber)
      fail("expected a record type of base ", dialect_.base, ", found '", numbers.rest().substr(0, 20), "'");
    const std::uint64_t flags = read_number(numbers, "compression", kMaxSigned);
    if ((flags & ~std::uint64_t{compression::kDefined}) != 0)
      fail("the compression flags ", flags, " hold bits that mean nothing; perhaps the numbers are not of base ",
           dialect_.base);
    const bool has_offset = (flags & compression::kNoBlock) == 0;
    const bool has_length = (flags & compression::kNoLength) == 0;
    // The fields are in structure order. The file number comes after the fields that depend on it.
    const std::uint64_t offset_field = has_offset ? read_number(numbers, "offset", kMaxSigned) : 0;
    const std::uint64_t length_field = has_length ? read_number(numbers, "length", kMaxSigned) : 0;
    const std::uint64_t start_field = read_number(numbers, "startTime", kMaxSigned);
    const std::uint64_t duration = read_number(numbers, "completionTime", kMaxSigned);
    const bool has_operation = (flags & compression::kNoOperation) == 0;
    const std::uint64_t operation_field =
        has_operation ? read_number(numbers, "operationId", std::numeric_limits<std::uint64_t>::max()) : 0;
    const bool has_file = (flags & compression::kNoFile) == 0;
    const auto file_field = static_cast<std::uint32_t>(has_file ? read_number(numbers, "fileId", kMaxNumber) : 0);
    const bool has_process = (flags & compression::kNoProcess) == 0;
    const auto process_number =
        static_cast<std::uint32_t>(has_process ? read_number(numbers, "processId", kMaxNumber) : state_.last_process());
    const std::uint64_t cpu_field = read_number(numbers, "processTime", kMaxSigned);
    std::uint64_t surplus = 0;
    if (numbers.next(surplus) != NumberStatus::kEnd)
      fail("the record has more fields than its compression flags, ", flags, ", leave");

    const bool logical = (type & flag::kLogical) != 0;
    const std::int64_t offset_unit =
        !logical || (flags & compression::kOffsetInBlocks) != 0 ? dialect_.block : std::int64_t{1};
    const std::int64_t length_unit =
        !logical || (flags & compression::kLengthInBlocks) != 0 ? dialect_.block : std::int64_t{1};
    const std::int64_t start = add_difference(state_.start(), start_field, "startTime");

    ProcessState& process = state_.process(process_number);
    const std::int64_t cpu = add_difference(process.cpu, cpu_field, "processTime");
    const std::int64_t start_ns = scaled(static_cast<std::uint64_t>(start), dialect_.tick, "startTime");
    const std::int64_t cpu_ns = scaled(static_cast<std::uint64_t>(cpu), dialect_.tick, "processTime");
    const std::int64_t duration_ns = scaled(duration, dialect_.tick, "completionTime");
    const std::uint32_t file_number = has_file ? file_field : process.file;
    bool is_remembered = false;
    FileState& file = State::move_to_front(process, file_number, is_remembered);
    std::int64_t offset = has_offset ? scaled(offset_field, offset_unit, "offset") : is_remembered ? file.next : 0;
    if (!has_offset && ((!is_remembered && process.has_dropped_files) || offset < 0))
      fail("the record leaves out its offset, and the end of the previous record is not known: file ", file_number,
           " of process ", process_number,
           is_remembered ? " ends past 64 bits" : " is not among the last 32 files of the process");
    if (!has_length && !is_remembered)
      fail("the record leaves out its length, and there is no earlier record of file ", file_number, " of process ",
           process_number, " to take it from");
    const std::int64_t length = has_length ? scaled(length_field, length_unit, "length") : file.length;
    if (!has_operation && !is_remembered && process.has_dropped_files)
      fail("the record leaves out its operationId, and file ", file_number, " of process ", process_number,
           " is not among the last 32 files of the process");
    const std::uint64_t operation = has_operation ? operation_field : file.operation;

    if (!process.has_record) report_process(process_number);
    defaults_change_.apply(file.defaults);
    state_.add_record(process, file, offset, length, operation);
    state_.set_start(start);
    process.cpu = cpu;
    undefined_bits_ += (type & record_type::kUndefined) != 0 ? 1 : 0;

    const RecordDefaults& defaults = file.defaults;
    event.start = start_ns;
    event.duration = defaults.duration ? duration_ns : kUnknown;
    event.cpu = overrides_.cpu ? to_ns(*overrides_.cpu) : defaults.cpu ? cpu_ns : kUnknown;
    event.offset = overrides_.offset ? *overrides_.offset : defaults.offset ? offset : kUnknown;
    event.length = overrides_.length.value_or(length);
    event.result = overrides_.result.value_or(event.length);
    event.operation = operation;
    event.process = process_number;
    event.thread = defaults.thread;
    event.file = file_number;
    event.kind = (type & record_type::kWrite) != 0 ? Kind::kWrite : Kind::kRead;
    event.interface = defaults.interface;
    event.flags = static_cast<std::uint16_t>((type & record_type::kFlags) | defaults.flags);
    defaults_change_ = {};
    overrides_ = {};
  }

  /// Converts a time of a comment, which may be negative, from ticks.
  std::int64_t to_ns(std::int64_t value) const {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(value, dialect_.tick, &product)) fail("the time ", value, " is past 64 bits");
    return product;
  }
  std::int64_t to_ns_or_unknown(std::int64_t value) const { return value == kUnknown ? kUnknown : to_ns(value); }

  bool take_comment(std::string_view text, Event& event) {
    if (!text.empty() && (text.front() == ' ' || text.front() == dialect_.separator)) text.remove_prefix(1);
    if (!dialect_.is_from_plait) {
      if (comment_count_++ < kMaxComments) note(base::text("comment: ", printable(text, 1000)));
      return false;
    }
    Pairs pairs(text);
    const std::string_view keyword = pairs.word();
    bool is_valid = true;
    if (keyword == "event") {
      const std::optional<Event> parsed = parse_event(pairs);
      if (parsed) {
        event = *parsed;
        report_process(event.process);
        event.start = to_ns(event.start);
        event.duration = to_ns_or_unknown(event.duration);
        event.cpu = to_ns_or_unknown(event.cpu);
        return true;
      }
      is_valid = false;
    } else if (keyword == "with") {
      is_valid = parse_defaults(pairs, defaults_change_);
    } else if (keyword == "but") {
      is_valid = parse_override(pairs, overrides_);
    } else if (keyword != "plait-1992") {
      is_valid = take_plait_comment(keyword, pairs) != RemarkStatus::kInvalid;
    }
    if (!is_valid) fail("the comment '", keyword, "' cannot be understood: ", text.substr(0, 200));
    return false;
  }

  bool has_end_comment() const override { return dialect_.has_extensions; }

  void note_counts() override {
    if (comment_count_ > kMaxComments)
      note(base::text("and ", count_text(static_cast<std::int64_t>(comment_count_ - kMaxComments), "more comment",
                                         "more comments")));
    if (undefined_bits_ > 0)
      note(count_text(undefined_bits_, "record type holds the bit 0x04, which means nothing",
                      "record types hold the bit 0x04, which means nothing"));
  }

  Dialect dialect_;
  State state_;
  RecordDefaultsChange defaults_change_;
  Override overrides_;
  std::size_t comment_count_ = 0;
  std::int64_t undefined_bits_ = 0;
};

}  // namespace

std::unique_ptr<Reader> open(std::unique_ptr<Source> source, const ReadOptions& options) {
  return std::make_unique<Reader1992>(std::move(source), options);
}

}  // namespace plait::trace::text1992
