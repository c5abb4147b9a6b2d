/// What readers of text formats share: an event a line or none, and what the last line says of the whole trace.
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
  std::size_t read(std::span<Event> room) override;
  const Description& description() const override { return description_; }
  std::int64_t bytes_read() const override { return source_->bytes_read(); }
  std::int64_t bytes_in_all() const override { return source_->size(); }

 protected:
  LineReader(std::unique_ptr<Source> source, std::string_view format);

  /// Returns whether the line is an event.
  virtual bool take_line(std::string_view line, Event& event) = 0;
  /// Whether the trace is Plait's own, whose last comment says that it is whole.
  virtual bool ends_itself() const = 0;
  /// Notes at the end what the reader has counted.
  virtual void note_counts() = 0;

  template <typename... Parts>
  [[noreturn]] void fail(const Parts&... parts) const {
    base::throw_argument_error("line ", source_->lines(), " of the trace ", source_->name(), ": ", parts...);
  }
  /// Keeps a note for people; of very many, the first.
  void note(std::string text);
  void tell_process(std::uint32_t number);
  /// Takes one of Plait's own comments.
  Remarked take_comment_of_ours(std::string_view keyword, const Pairs& pairs);

  Source& source() const { return *source_; }

  Description description_;
  bool cut_ = false;  ///< a line lacks its end, and was not read for that

 private:
  void end();

  std::unique_ptr<Source> source_;
  std::unordered_set<std::uint32_t> told_;
  bool ended_ = false;
  bool ended_well_ = false;
};

/// The front of a text, without characters that change what is printed.
std::string printable(std::string_view text, std::size_t most = 100);

}  // namespace plait::trace
