// The output of strace as events.
//
// Problem: calls of several threads overlap. strace then prints the begin of a call and its end in separate lines:
//
//   10 1.0 read(3,  <unfinished ...>
//   11 1.1 write(4, "x", 1) = 1
//   10 1.2 <... read resumed>"abc", 3) = 3
//
// Idea: an unfinished call waits in `pending_` under its thread, and both parts are joined when it is resumed. Events
// that start after a pending call wait until it has ended, because they come after it in the order of starts: the
// write in the example is returned after the read.

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "trace/formats/import/import.hpp"
#include "trace/formats/import/strace.hpp"
#include "trace/formats/import/strace/act.hpp"
#include "trace/words.hpp"

namespace plait::trace {

namespace {

using namespace strace;

constexpr std::int64_t kDay = 86'400'000'000'000;
// Limit of waiting events, because a call may last for the whole run.
constexpr std::size_t kWindow = 1 << 17;
constexpr std::size_t kMaxPending = 1 << 16;
constexpr std::size_t kMaxText = 1 << 16;

class StraceReader final : public Import {
 public:
  explicit StraceReader(std::unique_ptr<Source> source)
      : Import(std::move(source), "strace", 0, kWindow),
        converter_(description_, [this](const Event& event) { put(event); }) {
    // strace -ff names its files by process.
    const std::string& name = this->source().name();
    const std::size_t dot = name.rfind('.');
    if (dot != std::string::npos && name.size() - dot < 10)
      if (const auto number = whole_number(std::string_view(name).substr(dot + 1)); number && *number > 0)
        only_thread_ = *number;
  }

 private:
  struct Pending {
    std::int64_t start = 0;
    std::string name;
    std::string text;
  };

  bool advance() override {
    std::string_view text;
    if (!source().read_line(text)) return false;
    if (trimmed(text).empty()) return true;
    is_last_line_whole_ = source().line_had_newline();
    std::string joined;
    if (!join_attached_lines(text, joined)) return true;
    const Line line = parse_line(trimmed(text));
    const std::int64_t thread = find_thread(line);
    const std::int64_t start = event_time(line);
    if (process_line(line, thread, start))
      mark_understood();
    else if (is_last_line_whole_)
      add_unknown_line(text, source().lines());
    else
      add_cut_off_line(text);
    return true;
  }

  /// On a terminal, strace prints in the middle of a line that it follows another process. Returns false if the line
  /// continues.
  bool join_attached_lines(std::string_view& text, std::string& joined) {
    if (!begun_line_.empty()) {
      joined = std::exchange(begun_line_, {}) + std::string(text);
      text = joined;
    }
    constexpr std::string_view kRemark = "strace: Process ";
    if (!text.ends_with(" attached")) return true;
    const std::size_t at = text.rfind(kRemark);
    if (at == std::string_view::npos) return true;
    const std::string_view number = text.substr(at + kRemark.size(), text.size() - at - kRemark.size() - 9);
    if (const auto child = whole_number(number); child && attached_threads_.size() < kMaxPending)
      attached_threads_.insert(*child);
    if (at < kMaxText) begun_line_ = text.substr(0, at);
    return false;
  }

  /// Without -o, lines of the first process have no number until a second process exists.
  std::int64_t find_thread(const Line& line) {
    if (line.thread < 0) {
      has_unnumbered_lines_ = true;
      return only_thread_;
    }
    if (has_unnumbered_lines_ && first_process_ < 0 && !attached_threads_.contains(line.thread))
      first_process_ = line.thread;
    return line.thread == first_process_ ? only_thread_ : line.thread;
  }

  bool process_line(const Line& line, std::int64_t thread, std::int64_t start) {
    switch (line.kind) {
      case LineKind::kSignal:
      case LineKind::kRemark: return true;
      case LineKind::kExited:
        remove_pending(thread);
        if (line.text.starts_with("+++ superseded")) return true;
        converter_.end_thread(thread, start);
        return true;
      case LineKind::kUnfinished:
        if (find_effect(line.name) == Effect::kNothing) return true;
        if (find_effect(line.name) == Effect::kFork) converter_.tasks().begin_child(thread, line.text);
        if (pending_.size() >= kMaxPending) return false;
        remove_pending(thread);
        pending_[thread] = {start, std::string(line.name), std::string(line.text.substr(0, kMaxText))};
        pending_starts_.insert(start);
        return true;
      case LineKind::kResumed: {
        if (find_effect(line.name) == Effect::kNothing) return true;
        const auto entry = pending_.find(thread);
        if (entry == pending_.end() || entry->second.name != line.name) {
          ++ends_without_begin_;
          return true;
        }
        const Pending pending = std::move(entry->second);
        remove_pending(thread);
        Call call;
        const std::string text = pending.text + std::string(line.text);
        if (!parse_call(text, call)) return false;
        return converter_.call(thread, pending.start, pending.name, text, call);
      }
      case LineKind::kCall: {
        if (find_effect(line.name) == Effect::kNothing) return true;
        Call call;
        if (!parse_call(line.text, call)) return false;
        return converter_.call(thread, start, line.name, line.text, call);
      }
      case LineKind::kOther: return false;
    }
    return false;
  }

  void remove_pending(std::int64_t thread) {
    const auto entry = pending_.find(thread);
    if (entry == pending_.end()) return;
    pending_starts_.erase(pending_starts_.find(entry->second.start));
    pending_.erase(entry);
  }

  /// Returns the time of a line since the first one, in ns. Lines without times are 1 us apart.
  std::int64_t event_time(const Line& line) {
    std::int64_t time = line.time;
    switch (line.clock) {
      case Clock::kNone: return event_time_ += has_times_ ? 0 : 1000;
      case Clock::kEpoch: break;
      case Clock::kDay:
        if (time + days_ * kDay + kDay / 2 < last_time_ && days_ < 36500) ++days_;  // past midnight
        time += days_ * kDay;
        break;
      case Clock::kRelative: time = std::min(kMaxValue, last_time_ + time); break;
    }
    last_time_ = time;
    if (!std::exchange(has_times_, true)) {
      first_time_ = time;
      if (line.clock == Clock::kEpoch) description_.zero = time;
    }
    return event_time_ = std::max<std::int64_t>(time - first_time_, 0);
  }

  std::int64_t horizon() const override {
    const std::int64_t earliest = converter_.tasks().earliest_young();
    return pending_starts_.empty() ? earliest : std::min(earliest, *pending_starts_.begin());
  }

  void finish() override {
    converter_.tasks().report_young();
    if (!is_last_line_whole_) description_.complete = false;
    if (!has_times_ && source().lines() > 0) note("this trace has no times; its lines stand 1 us apart");
    if (!pending_.empty()) {
      description_.complete = false;
      note(base::text(count_text(static_cast<std::int64_t>(pending_.size()), "call", "calls"),
                      " had not ended when the trace did, the first ", pending_.begin()->second.name));
    }
    if (ends_without_begin_ > 0)
      note(count_text(ends_without_begin_, "call has an end and no beginning in the trace",
                      "calls have an end and no beginning in the trace"));
    if (converter_.ring_calls() > 0) {
      const std::string reason = base::text("requests by io_uring: strace shows the calls that hand them over (",
                                            converter_.ring_calls(), "), not what they ask for");
      description_.missed.push_back({reason, converter_.ring_requests(), 0, 0});
    }
    if (MissedCalls left = converter_.left_out(); left.events > 0) {
      left.reason = "calls that send and receive messages or splice memory (sendto, recvmsg, vmsplice and the like)";
      description_.missed.push_back(std::move(left));
    }
    if (converter_.submitted() > 0)
      note(count_text(converter_.submitted(),
                      "request by io_submit is taken to have succeeded in full; how long it took is not known",
                      "requests by io_submit are taken to have succeeded in full; how long they took is not known"));
  }

  EventConverter converter_;
  std::int64_t only_thread_ = 1;  // thread of lines without a thread number
  bool has_unnumbered_lines_ = false;
  std::int64_t first_process_ = -1;
  std::set<std::int64_t> attached_threads_;
  std::string begun_line_;  // the beginning of a line that a message of strace has interrupted
  std::map<std::int64_t, Pending> pending_;
  std::multiset<std::int64_t> pending_starts_;  // starts of pending_
  bool has_times_ = false;
  bool is_last_line_whole_ = true;
  std::int64_t first_time_ = 0;
  std::int64_t last_time_ = 0;
  std::int64_t days_ = 0;
  std::int64_t event_time_ = 0;
  std::int64_t ends_without_begin_ = 0;
};

bool recognise(std::string_view head) {
  int parsed_lines = 0;
  const int lines = for_each_first_line(head, [&](std::string_view text) {
    const Line line = parse_line(text);
    const bool is_unfinished = line.kind == LineKind::kCall && line.text.find(" = ") == std::string_view::npos;
    parsed_lines += line.kind == LineKind::kOther || is_unfinished ? 0 : 1;
  });
  return lines > 0 && parsed_lines * 2 > lines;
}

std::unique_ptr<Reader> open(std::unique_ptr<Source> source, const ReadOptions&) {
  return std::make_unique<StraceReader>(std::move(source));
}

}  // namespace

Format strace_format() { return {.name = "strace", .suffix = "", .recognise = recognise, .open = open}; }

}  // namespace plait::trace
