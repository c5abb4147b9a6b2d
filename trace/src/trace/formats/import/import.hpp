/// Functions shared by the readers of other tools' traces: order, counts of unknown lines, and numbers in texts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

#include "plait/trace.hpp"
#include "trace/source.hpp"

namespace plait::trace {

/// Upper bound of times, offsets and lengths, so that the sum of two never overflows.
constexpr std::int64_t kMaxValue = (std::int64_t{1} << 62) - 1;

/// A reader whose input is almost in the order of starts. It sorts events in a queue of at least `slack` events, and
/// more while an earlier one may still come, but at most `window`. An event that comes even later is moved to the
/// current time of the trace, with its end unchanged, and is counted in the notes.
class Import : public Reader {
 public:
  std::size_t read(std::span<Event> output) final;
  const Description& description() const final { return description_; }
  std::int64_t bytes_read() const final { return source_->bytes_read(); }
  std::int64_t bytes_in_all() const final { return source_->size(); }

 protected:
  Import(std::unique_ptr<Source> source, std::string_view format, std::size_t slack, std::size_t window);

  /// Reads the next line or record. Returns false at the end of the input.
  virtual bool advance() = 0;
  /// Called after the last record: adds notes and missing events.
  virtual void finish() {}
  /// Returns a time before which no further event starts.
  virtual std::int64_t horizon() const { return std::numeric_limits<std::int64_t>::max(); }

  Source& source() { return *source_; }
  /// Adds an event to the queue.
  void put(const Event& event);
  /// Marks the source as understood; the line or record need not contain an event.
  void mark_understood() { is_understood_ = true; }
  /// Marks the trace as incomplete, because its last line has no end and could not be parsed.
  void add_cut_off_line(std::string_view text);
  /// Counts lines that could not be parsed, and quotes the first one.
  void add_unknown_line(std::string_view text, std::int64_t number);
  void note(std::string text) { description_.notes.push_back(std::move(text)); }
  /// Adds a process of which nothing but the number is known.
  void add_process(std::uint32_t number);

  Description description_;

 private:
  struct QueuedEvent {
    Event event;
    std::uint64_t sequence;
    bool operator>(const QueuedEvent& other) const {
      return event.start != other.event.start ? event.start > other.event.start : sequence > other.sequence;
    }
  };

  Event pop();
  void add_final_notes();
  /// errors  kArgument: no line of the source was understood, so that it has another format.
  void check_understood() const;

  std::unique_ptr<Source> source_;
  std::size_t slack_;
  std::size_t window_;
  std::priority_queue<QueuedEvent, std::vector<QueuedEvent>, std::greater<>> waiting_;
  std::uint64_t sequence_ = 0;
  std::int64_t last_start_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t late_events_ = 0;  ///< number of events that were moved
  std::int64_t unknown_lines_ = 0;
  std::string first_unknown_;
  std::vector<std::string> excerpts_;  ///< of the first lines that could not be parsed, for an error
  bool is_understood_ = false;
  bool is_at_end_ = false;
  bool has_final_notes_ = false;
};

/// Returns the little-endian number of unsigned type Number at an offset in a record, which must contain it.
template <typename Number>
Number get(std::string_view bytes, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t k = 0; k < sizeof(Number); ++k)
    value |= std::uint64_t{static_cast<unsigned char>(bytes[at + k])} << (8 * k);
  return static_cast<Number>(value);
}
/// Returns all of `text` as a decimal number, limited to kMaxValue; nullopt if it is not a number or negative.
std::optional<std::int64_t> whole_number(std::string_view text);
/// Returns a decimal number with or without a fraction, times `unit`, limited to kMaxValue. The result is exact: no
/// floating point is used.
std::optional<std::int64_t> scaled_number(std::string_view text, std::int64_t unit);
/// Returns the words of a line, which are separated by blanks.
std::vector<std::string_view> split_words(std::string_view line);
/// Removes the blanks at both ends.
std::string_view trimmed(std::string_view text);

/// Calls `visit(line)` for the first 20 lines of a text that are not blank, without blanks at their ends.
/// returns  the number of these lines.
template <typename Visit>
int for_each_first_line(std::string_view text, Visit&& visit) {
  constexpr int kMaxLines = 20;
  int lines = 0;
  while (!text.empty() && lines < kMaxLines) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    ++lines;
    visit(line);
  }
  return lines;
}
/// Returns the beginning of a text in quotes, with unprintable bytes as \xNN, for a message.
std::string quote_excerpt(std::string_view text);

}  // namespace plait::trace
