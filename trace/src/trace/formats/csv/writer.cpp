#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "trace/formats/csv/columns.hpp"
#include "trace/formats/csv/csv.hpp"
#include "trace/formats/remarks.hpp"

namespace plait::trace::csv {

namespace {

class CsvWriter : public Writer {
 public:
  CsvWriter(std::unique_ptr<Sink> sink, const WriteOptions& options)
      : sink_(std::move(sink)),
        separator_(options.separator == 0 ? ',' : options.separator),
        tick_(options.tick == 0 ? 1 : options.tick) {
    if (std::string_view(",;\t|:").find(separator_) == std::string_view::npos)
      base::throw_argument_error("columns of CSV cannot be separated by '", separator_,
                                 "'; take a comma, a semicolon, a tab, | or :");
    for (std::int64_t unit = tick_; unit > 1 && unit % 10 == 0; unit /= 10) ++decimals_;
    if (tick_ < 1 || tick_ > kMaxTick || power(decimals_) != tick_)
      base::throw_argument_error("times in CSV have units of a power of ten ns, such as 1, 1000 or 1000000000, not ",
                                 tick_);
    for (std::size_t i = 0; i < kColumns; ++i) {
      if (i > 0) sink_->put({&separator_, 1});
      sink_->put(kColumnNames[i]);
    }
    sink_->put(base::text("\n# ", kHead, "version=1 tick=", tick_, "\n"));
  }

  void add(const Process& process) override { remark(remark_text(process)); }
  void add(const File& file) override { remark(remark_text(file)); }

  void write(std::span<const Event> events) override {
    for (const Event& event : events) {
      line_ = text_.data();
      time(event.start);
      next();
      if (event.duration != kUnknown) time(event.duration);
      next();
      if (event.cpu != kUnknown) time(event.cpu);
      next();
      number(event.process);
      next();
      number(event.thread);
      next();
      number(event.file);
      next();
      append(kind_word(event.kind));
      next();
      append(interface_word(event.interface));
      next();
      if (event.offset != kUnknown) number(event.offset);
      next();
      number(event.length);
      next();
      number(event.result);
      next();
      number(event.operation);
      next();
      append(flags(event.flags));
      *line_++ = '\n';
      sink_->put({text_.data(), static_cast<std::size_t>(line_ - text_.data())});
    }
  }

  void finish(const Description& description) override {
    for (const MissedCalls& missed : description.missed) remark(remark_text(missed));
    for (const Counters& counters : description.counters) remark(remark_text(counters));
    for (const std::string& note : description.notes) remark(note_text(note));
    remark(end_text(description, 1));
    sink_->finish();
  }

  std::int64_t bytes_written() const override { return sink_->bytes(); }

 private:
  static std::int64_t power(int decimals) {
    std::int64_t value = 1;
    while (decimals-- > 0) value *= 10;
    return value;
  }

  void remark(std::string_view text) {
    sink_->put("# ");
    sink_->put(text);
    sink_->put("\n");
  }

  void next() { *line_++ = separator_; }
  void append(std::string_view text) { line_ += text.copy(line_, text.size()); }
  void number(auto value) { line_ = std::to_chars(line_, text_.data() + text_.size(), value).ptr; }

  /// Writes a time in units of the tick, exactly.
  void time(std::int64_t value) {
    if (decimals_ == 0 || value == 0) return number(value);
    if (value < 0) *line_++ = '-';
    const std::uint64_t size = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    const auto unit = static_cast<std::uint64_t>(tick_);
    number(size / unit);
    std::uint64_t rest = size % unit;
    if (rest == 0) return;
    *line_++ = '.';
    for (std::uint64_t digit = unit / 10; rest > 0; digit /= 10) {
      *line_++ = static_cast<char>('0' + rest / digit);
      rest %= digit;
    }
  }

  std::string_view flags(std::uint16_t value) {
    if (flags_ && *flags_ == value) return flags_text_;
    flags_ = value;
    flags_text_.clear();
    append_flags(flags_text_, value);
    if (flags_text_.find(separator_) != std::string::npos) flags_text_ = '"' + flags_text_ + '"';
    return flags_text_;
  }

  std::unique_ptr<Sink> sink_;
  char separator_;
  std::int64_t tick_;
  int decimals_ = 0;
  std::array<char, 1024> text_;  // thirteen cells; the longest one, with all flags, has about 120 letters
  char* line_ = nullptr;
  std::optional<std::uint16_t> flags_;
  std::string flags_text_;
};

}  // namespace

std::unique_ptr<Writer> create(std::unique_ptr<Sink> sink, const WriteOptions& options) {
  return std::make_unique<CsvWriter>(std::move(sink), options);
}

}  // namespace plait::trace::csv

namespace plait::trace {

constinit const Format kCsv{
    .name = "csv", .suffix = ".csv", .recognise = csv::looks_like, .open = csv::open, .create = csv::create};

}  // namespace plait::trace
