// Writes traces in CSV. Processes, files and the description are remarks, lines that begin with '#'.

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
    if (tick_ < 1 || tick_ > kMaxTick || power_of_ten(decimals_) != tick_)
      base::throw_argument_error("times in CSV have units of a power of ten ns, such as 1, 1000 or 1000000000, not ",
                                 tick_);
    for (std::size_t i = 0; i < kColumns; ++i) {
      if (i > 0) sink_->put({&separator_, 1});
      sink_->put(kColumnNames[i]);
    }
    sink_->put(base::text("\n# ", kHeadComment, "version=1 tick=", tick_, "\n"));
  }

  void add(const Process& process) override { remark(remark_text(process)); }
  void add(const File& file) override { remark(remark_text(file)); }

  void write(std::span<const Event> events) override {
    for (const Event& event : events) {
      cursor_ = buffer_.data();
      put_time(event.start);
      put_separator();
      if (event.duration != kUnknown) put_time(event.duration);
      put_separator();
      if (event.cpu != kUnknown) put_time(event.cpu);
      put_separator();
      put_number(event.process);
      put_separator();
      put_number(event.thread);
      put_separator();
      put_number(event.file);
      put_separator();
      put(kind_word(event.kind));
      put_separator();
      put(interface_word(event.interface));
      put_separator();
      if (event.offset != kUnknown) put_number(event.offset);
      put_separator();
      put_number(event.length);
      put_separator();
      put_number(event.result);
      put_separator();
      put_number(event.operation);
      put_separator();
      put(flags_cell(event.flags));
      *cursor_++ = '\n';
      sink_->put({buffer_.data(), static_cast<std::size_t>(cursor_ - buffer_.data())});
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
  static std::int64_t power_of_ten(int decimals) {
    std::int64_t value = 1;
    while (decimals-- > 0) value *= 10;
    return value;
  }

  void remark(std::string_view text) {
    sink_->put("# ");
    sink_->put(text);
    sink_->put("\n");
  }

  void put_separator() { *cursor_++ = separator_; }
  void put(std::string_view text) { cursor_ += text.copy(cursor_, text.size()); }
  void put_number(auto value) { cursor_ = std::to_chars(cursor_, buffer_.data() + buffer_.size(), value).ptr; }

  /// Writes a time in units of the tick, exactly.
  void put_time(std::int64_t value) {
    if (decimals_ == 0 || value == 0) return put_number(value);
    if (value < 0) *cursor_++ = '-';
    const std::uint64_t magnitude =
        value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    const auto unit = static_cast<std::uint64_t>(tick_);
    put_number(magnitude / unit);
    std::uint64_t remainder = magnitude % unit;
    if (remainder == 0) return;
    *cursor_++ = '.';
    for (std::uint64_t digit = unit / 10; remainder > 0; digit /= 10) {
      *cursor_++ = static_cast<char>('0' + remainder / digit);
      remainder %= digit;
    }
  }

  /// Returns the words of flags. Most events have the flags of the one before, so the text of these is stored.
  std::string_view flags_cell(std::uint16_t value) {
    if (last_flags_ && *last_flags_ == value) return last_flags_text_;
    last_flags_ = value;
    last_flags_text_.clear();
    append_flags(last_flags_text_, value);
    if (last_flags_text_.find(separator_) != std::string::npos) last_flags_text_ = '"' + last_flags_text_ + '"';
    return last_flags_text_;
  }

  std::unique_ptr<Sink> sink_;
  char separator_;
  std::int64_t tick_;
  int decimals_ = 0;
  std::array<char, 1024> buffer_;  // thirteen cells; the longest one, with all flags, has about 120 letters
  char* cursor_ = nullptr;         // end of the line in the buffer
  std::optional<std::uint16_t> last_flags_;
  std::string last_flags_text_;
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
