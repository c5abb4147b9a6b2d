// Classification of calls before they are analysed.
//
// Example of sequences: accesses of 100 bytes at the offsets 0, 100, 300 and 50 of one open are consecutive,
// consecutive, sequential and random.
//
// Example of `unshared_start`: three calls of one process run from 0 to 10, from 5 to 15 and from 8 to 12. Their
// unshared parts are 0 to 10, 10 to 15 and nothing, so that the sum of all unshared parts, 15, is the time in which at
// least one call ran.

#include "trace/report/level.hpp"

#include <algorithm>
#include <utility>

#include "trace/report/tables/files.hpp"
#include "trace/report/tables/sizes.hpp"
#include "trace/report/tables/totals.hpp"
#include "trace/report/time/offsets.hpp"
#include "trace/report/time/ranks.hpp"
#include "trace/report/time/rates.hpp"
#include "trace/report/time/timeline.hpp"

namespace plait::trace::report {

namespace {
bool is_logical(const Event& event) { return (event.flags & flag::kLogical) != 0; }
}  // namespace

Level::Level(const Lookup& lookup, bool logical)
    : lookup_(lookup), logical_(logical), processes_(std::make_unique<ProcessesAnalyser>(lookup)) {
  analysers_.push_back(std::make_unique<TotalsAnalyser>());
  analysers_.push_back(std::make_unique<SizesAnalyser>());
  analysers_.push_back(std::make_unique<FilesAnalyser>(lookup));
  analysers_.push_back(std::make_unique<TimelineAnalyser>());
  analysers_.push_back(std::make_unique<RanksAnalyser>());
  analysers_.push_back(std::make_unique<OffsetsAnalyser>(lookup));
  analysers_.push_back(std::make_unique<RatesAnalyser>(lookup));
}

bool Level::belongs(const Event& event) const {
  const bool logical = is_logical(event);
  if (event.kind == Kind::kRead || event.kind == Kind::kWrite) return logical == logical_;
  return logical || !logical_ || event.kind >= Kind::kStart;
}

void Level::set_sequence(Call& call) {
  const Event& event = call.event;
  if (event.offset < 0 || call.open == kNoFile) {
    call.sequence = Sequence::kConsecutive;  // a stream continues at its position
    return;
  }
  OpenState& open = opens_[call.open];
  if (open.end < 0) {
    call.sequence = event.offset == 0 ? Sequence::kConsecutive : Sequence::kSequential;
  } else {
    call.sequence = event.offset == open.end  ? Sequence::kConsecutive
                    : event.offset > open.end ? Sequence::kSequential
                                              : Sequence::kRandom;
  }
  open.end = event.offset + call.moved;
}

void Level::set_unshared(Call& call) {
  if (call.process >= busy_until_.size()) busy_until_.resize(call.process + std::size_t{1});
  BusyUntil& until = busy_until_[call.process];
  call.unshared_start = std::min(std::max(call.start, until.any), call.end);
  call.unshared_wait_start = call.end;
  until.any = std::max(until.any, call.end);
  if ((call.event.flags & flag::kAsynchronous) != 0) return;
  call.unshared_wait_start = std::min(std::max(call.start, until.waiting), call.end);
  until.waiting = std::max(until.waiting, call.end);
}

void Level::set_first(Call& call) {
  const Kind kind = call.event.kind;
  if (kind == Kind::kMetadata || (kind == Kind::kOpen && call.event.result < 0)) return;
  OpenState& open = opens_[call.open];
  call.opens = !open.has_events;
  open.has_events = true;
  if (open.is_paired) return;
  open.is_paired = true;
  const std::uint64_t key = std::uint64_t{call.process} << 32 | call.name;
  const std::size_t before = pairs_.size();
  pairs_.find_or_insert(key, 0);
  call.first_of_pair = pairs_.size() > before;
}

void Level::add(std::span<const Call> calls) {
  calls_.clear();
  opens_.resize(lookup_.opens());
  for (const Call& original : calls) {
    if (!belongs(original.event)) continue;
    Call call = original;
    if (call.left_out) {  // it only counts for the time that the process ran
      call.open = call.name = kNoFile;
      calls_.push_back(call);
      continue;
    }
    call.io = call.event.kind < Kind::kStart && is_logical(call.event) == logical_;
    if (call.io) set_unshared(call);
    if (call.open != kNoFile) set_first(call);
    if (call.event.result >= 0 && call.event.kind <= Kind::kWrite) {
      call.direction = static_cast<std::int8_t>(call.event.kind == Kind::kRead ? kReads : kWrites);
      set_sequence(call);
    }
    calls_.push_back(call);
  }
  processes_->add(calls_);
  for (const auto& analyser : analysers_) analyser->add(calls_);
}

void Level::store_results(Report& report) const {
  for (const auto& analyser : analysers_) analyser->store_results(report);
}

}  // namespace plait::trace::report
