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
  while (count < output.size() && !ended_) {
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
  if (!reported_.insert(number).second) return;
  Process process;
  process.number = number;
  description_.processes.push_back(std::move(process));
}

RemarkStatus LineReader::take_comment_of_ours(std::string_view keyword, const Pairs& pairs) {
  const RemarkStatus status = take_remark(keyword, pairs, description_);
  ended_well_ = ended_well_ || status == RemarkStatus::kEnd;
  if (status == RemarkStatus::kYes && keyword == "process") reported_.insert(description_.processes.back().number);
  if (status == RemarkStatus::kNone)
    note(base::text("line ", source_->lines(), " has the unknown comment '", printable(keyword), "'"));
  return status;
}

void LineReader::end() {
  ended_ = true;
  if (ends_itself() && !ended_well_) cut_ = true;
  if (cut_) {
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
  std::string whole;
  append_escaped(whole, text.substr(0, max_bytes));
  return whole;
}

}  // namespace plait::trace
