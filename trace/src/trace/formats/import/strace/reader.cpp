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
// Limit of held events. Calls that wait for the whole run must not hold back the events of others.
constexpr std::size_t kWindow = 1 << 17;
constexpr std::size_t kMaxPending = 1 << 16;
constexpr std::size_t kMaxText = 1 << 16;

class StraceReader final : public Import {
 public:
  explicit StraceReader(std::unique_ptr<Source> source)
      : Import(std::move(source), "strace", 0, kWindow),
        act_(description_, [this](const Event& event) { put(event); }) {
    // strace -ff names its files by process.
    const std::string& name = this->source().name();
    const std::size_t dot = name.rfind('.');
    if (dot != std::string::npos && name.size() - dot < 10)
      if (const auto number = whole_number(std::string_view(name).substr(dot + 1)); number && *number > 0)
        alone_ = *number;
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
    whole_ = source().line_had_newline();
    std::string joined;
    if (!take_remark(text, joined)) return true;
    const Line line = parse_line(trimmed(text));
    const std::int64_t thread = find_thread(line);
    const std::int64_t start = absolute_time(line);
    if (understand(line, thread, start))
      understood();
    else if (whole_)
      not_understood(text, source().lines());
    else
      cut_off(text);
    return true;
  }

  /// On a terminal, strace prints in the middle of a line that it follows another process. Returns false if the line
  /// continues.
  bool take_remark(std::string_view& text, std::string& joined) {
    if (!begun_.empty()) {
      joined = std::exchange(begun_, {}) + std::string(text);
      text = joined;
    }
    constexpr std::string_view kRemark = "strace: Process ";
    if (!text.ends_with(" attached")) return true;
    const std::size_t at = text.rfind(kRemark);
    if (at == std::string_view::npos) return true;
    const std::string_view number = text.substr(at + kRemark.size(), text.size() - at - kRemark.size() - 9);
    if (const auto child = whole_number(number); child && attached_.size() < kMaxPending) attached_.insert(*child);
    if (at < kMaxText) begun_ = text.substr(0, at);
    return false;
  }

  /// The first process has no number without -o until a second one exists.
  std::int64_t find_thread(const Line& line) {
    if (line.thread < 0) {
      unnumbered_ = true;
      return alone_;
    }
    if (unnumbered_ && first_number_ < 0 && !attached_.contains(line.thread)) first_number_ = line.thread;
    return line.thread == first_number_ ? alone_ : line.thread;
  }

  bool understand(const Line& line, std::int64_t thread, std::int64_t start) {
    switch (line.kind) {
      case LineKind::kSignal:
      case LineKind::kRemark: return true;
      case LineKind::kExited:
        remove_pending(thread);
        if (line.text.starts_with("+++ superseded")) return true;
        act_.exited(thread, start);
        return true;
      case LineKind::kUnfinished:
        if (what_does(line.name) == Effect::kNothing) return true;
        if (what_does(line.name) == Effect::kFork) act_.tasks().begin_child(thread, line.text);
        if (pending_.size() >= kMaxPending) return false;
        remove_pending(thread);
        pending_[thread] = {start, std::string(line.name), std::string(line.text.substr(0, kMaxText))};
        starts_.insert(start);
        return true;
      case LineKind::kResumed: {
        if (what_does(line.name) == Effect::kNothing) return true;
        const auto entry = pending_.find(thread);
        if (entry == pending_.end() || entry->second.name != line.name) {
          ++headless_;
          return true;
        }
        const Pending pending = std::move(entry->second);
        remove_pending(thread);
        Call call;
        const std::string text = pending.text + std::string(line.text);
        if (!parse_call(text, call)) return false;
        return act_.call(thread, pending.start, pending.name, text, call);
      }
      case LineKind::kCall: {
        if (what_does(line.name) == Effect::kNothing) return true;
        Call call;
        if (!parse_call(line.text, call)) return false;
        return act_.call(thread, start, line.name, line.text, call);
      }
      case LineKind::kOther: return false;
    }
    return false;
  }

  void remove_pending(std::int64_t thread) {
    const auto entry = pending_.find(thread);
    if (entry == pending_.end()) return;
    starts_.erase(starts_.find(entry->second.start));
    pending_.erase(entry);
  }

  std::int64_t absolute_time(const Line& line) {
    std::int64_t time = line.time;
    switch (line.clock) {
      case Clock::kNone: return untimed_ += timed_ ? 0 : 1000;
      case Clock::kEpoch: break;
      case Clock::kDay:
        if (time + days_ * kDay + kDay / 2 < last_ && days_ < 36500) ++days_;  // past midnight
        time += days_ * kDay;
        break;
      case Clock::kRelative: time = std::min(kMaxValue, last_ + time); break;
    }
    last_ = time;
    if (!std::exchange(timed_, true)) {
      first_ = time;
      if (line.clock == Clock::kEpoch) description_.zero = time;
    }
    return untimed_ = std::max<std::int64_t>(time - first_, 0);
  }

  std::int64_t horizon() const override {
    const std::int64_t young = act_.tasks().earliest_young();
    return starts_.empty() ? young : std::min(young, *starts_.begin());
  }

  void finish() override {
    act_.tasks().report_young();
    if (!whole_) description_.complete = false;
    if (!timed_ && source().lines() > 0) note("this trace has no times; its lines stand 1 us apart");
    if (!pending_.empty()) {
      description_.complete = false;
      note(base::text(count_text(static_cast<std::int64_t>(pending_.size()), "call", "calls"),
                      " had not ended when the trace did, the first ", pending_.begin()->second.name));
    }
    if (headless_ > 0)
      note(count_text(headless_, "call has an end and no beginning in the trace",
                      "calls have an end and no beginning in the trace"));
    if (act_.ring_calls() > 0) {
      const std::string reason = base::text("requests by io_uring: strace shows the calls that hand them over (",
                                            act_.ring_calls(), "), not what they ask for");
      description_.missed.push_back({reason, act_.ring_requests(), 0, 0});
    }
    if (MissedCalls left = act_.left_out(); left.events > 0) {
      left.reason = "calls that send and receive messages or splice memory (sendto, recvmsg, vmsplice and the like)";
      description_.missed.push_back(std::move(left));
    }
    if (act_.submitted() > 0)
      note(count_text(act_.submitted(),
                      "request by io_submit is taken to have succeeded in full; how long it took is not known",
                      "requests by io_submit are taken to have succeeded in full; how long they took is not known"));
  }

  EventConverter act_;
  std::int64_t alone_ = 1;  // thread of lines without a thread number
  bool unnumbered_ = false;
  std::int64_t first_number_ = -1;
  std::set<std::int64_t> attached_;
  std::string begun_;
  std::map<std::int64_t, Pending> pending_;
  std::multiset<std::int64_t> starts_;  // starts of pending_
  bool timed_ = false;
  bool whole_ = true;
  std::int64_t first_ = 0;
  std::int64_t last_ = 0;
  std::int64_t days_ = 0;
  std::int64_t untimed_ = 0;
  std::int64_t headless_ = 0;
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
