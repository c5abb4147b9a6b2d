/// Base of the readers of text formats whose lines are events or comments. A trace of Plait ends with a comment about
/// the whole trace, so a missing one shows that the trace is cut off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "plait/trace.hpp"
#include "trace/formats/remarks.hpp"
#include "trace/source.hpp"

namespace plait::trace {

class LineReader : public Reader {
 public:
  std::size_t read(std::span<Event> output) override;
  const Description& description() const override { return description_; }
  std::int64_t bytes_read() const override { return source_->bytes_read(); }
  std::int64_t bytes_in_all() const override { return source_->size(); }

 protected:
  LineReader(std::unique_ptr<Source> source, std::string_view format);

  /// Parses a line. Returns true if it is an event.
  virtual bool take_line(std::string_view line, Event& event) = 0;
  /// True if the trace was written by Plait, which ends a complete trace with a comment.
  virtual bool has_end_comment() const = 0;
  /// Adds notes about the reader's counts at the end.
  virtual void note_counts() = 0;

  template <typename... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    base::throw_argument_error("line ", source_->lines(), " of the trace ", source_->name(), ": ", parts...);
  }
  /// Adds a note for the user. Only the first 1000 are stored.
  void note(std::string text);
  /// Adds a process to the description if it is not there yet.
  void report_process(std::uint32_t number);
  /// Processes a comment that Plait has written.
  RemarkStatus take_plait_comment(std::string_view keyword, const Pairs& pairs);

  Source& source() const { return *source_; }

  Description description_;
  bool is_cut_off_ = false;  ///< true if the last line is truncated

 private:
  void end();

  std::unique_ptr<Source> source_;
  std::unordered_set<std::uint32_t> reported_processes_;
  bool is_at_end_ = false;
  bool found_end_comment_ = false;
};

/// Returns the beginning of a text with its control characters escaped.
std::string printable(std::string_view text, std::size_t max_bytes = 100);

}  // namespace plait::trace
