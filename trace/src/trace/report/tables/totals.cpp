#include "trace/report/tables/totals.hpp"

#include <algorithm>

#include "trace/report/sum.hpp"

namespace plait::trace::report {

namespace {

void count(Order& order, Sequence sequence) {
  if (sequence == Sequence::kConsecutive) ++order.consecutive;
  if (sequence == Sequence::kSequential) ++order.sequential;
  if (sequence == Sequence::kRandom) ++order.random;
}

}  // namespace

void TotalsAnalyser::add(std::span<const Call> calls) {
  for (const Call& call : calls) {
    const Event& event = call.event;
    if (!call.io && event.kind < Kind::kStart) continue;  // belongs to the other level
    const std::size_t kind = std::min(static_cast<std::size_t>(event.kind), kKinds - 1);
    const auto stated = static_cast<std::size_t>(event.interface);
    const std::size_t interface = stated < kInterfaces ? stated : 0;  // unknown in a damaged trace
    CallRow& row = calls_[kind * kInterfaces + interface];
    const std::int64_t time = call.end - call.start;
    ++row.count;
    row.failed += event.result < 0 ? 1 : 0;
    grow(row.time, time);
    if (event.result < 0) grow(row.failed_time, time);
    if (!call.is_data()) continue;
    grow(row.bytes, call.moved);
    const auto way = static_cast<std::size_t>(call.direction);
    ++totals_.data[way].count;
    grow(totals_.data[way].bytes, call.moved);
    grow(totals_.data_time, time);
    if ((event.flags & flag::kAsynchronous) != 0) grow(totals_.asynchronous_bytes, call.moved);
    if (call.moved < kSmall) {
      ++totals_.small;
      grow(totals_.small_time, time);
    }
    if (event.offset >= 0) {
      ++totals_.positioned[way];
      if (event.offset % kAlignment != 0) {
        ++totals_.unaligned[way];
        grow(totals_.unaligned_time, time);
      }
    }
    if (call.sequence == Sequence::kRandom) grow(totals_.random_time[way], time);
    count(totals_.order[way], call.sequence);
  }
}

void TotalsAnalyser::result(Report& report) const {
  const Totals before = report.totals;  // counted by the analysis itself
  report.totals = totals_;
  report.totals.events = before.events;
  report.totals.wall = before.wall;
  report.totals.cpu = before.cpu;
  for (std::size_t kind = 0; kind < kKinds; ++kind)
    for (std::size_t interface = 0; interface < kInterfaces; ++interface) {
      CallRow row = calls_[kind * kInterfaces + interface];
      if (row.count == 0) continue;
      row.kind = static_cast<Kind>(kind);
      row.interface = static_cast<Interface>(interface);
      report.calls.push_back(row);
    }
}

}  // namespace plait::trace::report
