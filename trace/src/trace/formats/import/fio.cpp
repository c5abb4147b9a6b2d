#include "trace/formats/import/fio.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "trace/formats/import/import.hpp"
#include "trace/words.hpp"

namespace plait::trace {

namespace {

constexpr std::string_view kVersion2 = "fio version 2 iolog";
constexpr std::string_view kVersion3 = "fio version 3 iolog";
constexpr std::uint32_t kProcess = 1;

// fio(1), "Trace file format": version 2 has lines `name action [offset length]`, in which the offset of `wait` is a
// time in us since the last wait. Version 3 begins each line with a time in us since the start. Both log requests
// when they are made, without their duration and result.
class FioReader final : public Import {
 public:
  FioReader(std::unique_ptr<Source> source, const ReadOptions& options)
      : Import(std::move(source), "fio", /*slack=*/0, /*window=*/0), tick_(options.tick > 0 ? options.tick : 1000) {
    std::string_view line;
    if (this->source().read_line(line)) {
      has_times_ = trimmed(line) == kVersion3;
      if (!has_times_ && trimmed(line) != kVersion2)
        base::throw_argument_error(this->source().name(), " is not a log of fio: its first line is ",
                                   quote_excerpt(line), ", expected '", kVersion3, "' or '", kVersion2, "'");
    }
    description_.tick = tick_;
    add_process(kProcess);
  }

 private:
  bool advance() override {
    std::string_view line;
    if (!source().read_line(line)) return false;
    if (!source().line_had_newline()) description_.complete = false;
    const std::string_view text = trimmed(line);
    if (text.empty()) return true;
    if (parse_line(text))
      mark_understood();
    else
      add_unknown_line(line, source().lines());
    return true;
  }

  void finish() override {
    if (requests_ > 0)
      note(
          "a log of fio tells what was asked for, not what came of it: requests are taken to have succeeded in full, "
          "and how long they took is not known");
    if (!has_times_ && !has_waits_) note("this log has no times; requests stand one tick apart");
    if (trims_ > 0) note(count_text(trims_, "trim is shown as metadata", "trims are shown as metadata"));
  }

  bool parse_line(std::string_view text) {
    if (has_times_) {
      const std::size_t blank = text.find(' ');
      if (blank == std::string_view::npos) return false;
      const auto time = scaled_number(text.substr(0, blank), tick_);
      if (!time) return false;
      text = trimmed(text.substr(blank));
      if (!parse_action(text, *time)) return false;
      return true;
    }
    return parse_action(text, now_);
  }

  // A name may contain blanks, so the words after it are found from the end.
  bool parse_action(std::string_view text, std::int64_t time) {
    const auto last_word = [](std::string_view& rest) {
      const std::size_t blank = rest.find_last_of(" \t");
      if (blank == std::string_view::npos) return std::string_view{};
      const std::string_view word = rest.substr(blank + 1);
      rest = trimmed(rest.substr(0, blank));
      return word;
    };
    std::string_view rest = text;
    const std::string_view last = last_word(rest);
    if (last == "add") return !rest.empty();
    if (last == "open" || last == "close") {
      if (rest.empty()) return false;
      Event event = make_event(time, last == "open" ? Kind::kOpen : Kind::kClose);
      if (last == "open") open_files_[std::string(rest)] = add_file(rest);
      event.file = find_file(rest);
      if (last == "close") open_files_.erase(std::string(rest));
      put(event);
      return true;
    }
    const auto length = whole_number(last);
    const std::string_view offset_word = last_word(rest);
    const auto offset = whole_number(offset_word);
    const std::string_view action = last_word(rest);
    if (!length || !offset || rest.empty()) return false;
    if (action == "wait") {
      has_waits_ = true;
      now_ = std::min(kMaxValue, now_ + std::min(*offset, kMaxValue / tick_) * tick_);
      return true;
    }
    static const std::map<std::string_view, Kind> kActions{
        {"read", Kind::kRead},     {"write", Kind::kWrite},          {"sync", Kind::kSync},
        {"datasync", Kind::kSync}, {"sync_file_range", Kind::kSync}, {"syncfs", Kind::kSync},
        {"trim", Kind::kMetadata},
    };
    const auto kind = kActions.find(action);
    if (kind == kActions.end()) return false;
    Event event = make_event(time, kind->second);
    event.file = find_file(rest);
    if (kind->second == Kind::kRead || kind->second == Kind::kWrite) {
      event.offset = *offset;
      event.length = event.result = *length;
      event.operation = ++operations_;
      ++requests_;
    }
    if (kind->second == Kind::kMetadata) ++trims_;
    put(event);
    return true;
  }

  /// In a log without times, also moves the time of the next event by a tick.
  Event make_event(std::int64_t time, Kind kind) {
    Event event;
    event.start = time;
    event.kind = kind;
    event.process = event.thread = kProcess;
    if (!has_times_ && !has_waits_) now_ = std::min(kMaxValue, now_ + tick_);
    return event;
  }

  std::uint32_t add_file(std::string_view name) {
    description_.files.push_back({kProcess, ++file_count_, std::string(name)});
    return file_count_;
  }

  std::uint32_t find_file(std::string_view name) {
    const auto entry = open_files_.find(std::string(name));
    if (entry != open_files_.end()) return entry->second;
    return open_files_[std::string(name)] = add_file(name);
  }

  bool has_times_ = false;
  bool has_waits_ = false;
  std::int64_t tick_;
  std::int64_t now_ = 0;  // time of the next event in a log of version 2
  std::map<std::string, std::uint32_t> open_files_;
  std::uint32_t file_count_ = 0;
  std::uint64_t operations_ = 0;
  std::int64_t requests_ = 0;
  std::int64_t trims_ = 0;
};

bool recognise(std::string_view head) { return head.starts_with(kVersion2) || head.starts_with(kVersion3); }

std::unique_ptr<Reader> open(std::unique_ptr<Source> source, const ReadOptions& options) {
  return std::make_unique<FioReader>(std::move(source), options);
}

}  // namespace

Format fio_format() { return {.name = "fio", .suffix = "", .recognise = recognise, .open = open}; }

}  // namespace plait::trace
