#include "trace/formats/line_reader.hpp"

#include <utility>

#include "trace/words.hpp"

namespace plait::trace {

LineReader::LineReader(std::unique_ptr<Source> source, std::string_view format) : source_(std::move(source)) {
  description_.format = format;
}

std::size_t LineReader::read(std::span<Event> output) {
  std::size_t count = 0;
  std::string_view line;
  while (count < output.size() && !is_at_end_) {
    if (!source_->read_line(line)) {
      end();
    } else if (take_line(line, output[count])) {
      ++count;
    }
  }
  return count;
}

void LineReader::note(std::string text) {
  if (description_.notes.size() < 1000) description_.notes.push_back(std::move(text));
}

void LineReader::report_process(std::uint32_t number) {
  if (!reported_processes_.insert(number).second) return;
  Process process;
  process.number = number;
  description_.processes.push_back(std::move(process));
}

RemarkStatus LineReader::take_plait_comment(std::string_view keyword, const Pairs& pairs) {
  const RemarkStatus status = take_remark(keyword, pairs, description_);
  found_end_comment_ = found_end_comment_ || status == RemarkStatus::kEnd;
  if (status == RemarkStatus::kStored && keyword == "process")
    reported_processes_.insert(description_.processes.back().number);
  if (status == RemarkStatus::kUnknownKeyword)
    note(base::text("line ", source_->lines(), " has the unknown comment '", printable(keyword), "'"));
  return status;
}

void LineReader::end() {
  is_at_end_ = true;
  if (has_end_comment() && !found_end_comment_) is_cut_off_ = true;
  if (is_cut_off_) {
    description_.complete = false;
    note("the trace is cut off: it ends within a line, or without its last comment");
  }
  note_counts();
  if (source_->long_lines() > 0) {
    description_.complete = false;
    note(base::text(source_->long_lines(), source_->long_lines() == 1 ? " line was" : " lines were",
                    " too long and cut"));
  }
}

std::string printable(std::string_view text, std::size_t max_bytes) {
  std::string escaped;
  append_escaped(escaped, text.substr(0, max_bytes));
  return escaped;
}

}  // namespace plait::trace
