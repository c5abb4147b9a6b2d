// The totals of a report, summed call by call.

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
    const auto recorded_interface = static_cast<std::size_t>(event.interface);
    const std::size_t interface =
        recorded_interface < kInterfaces ? recorded_interface : 0;  // unknown in a damaged trace
    CallRow& row = calls_[kind * kInterfaces + interface];
    const std::int64_t time = call.end - call.start;
    ++row.count;
    row.failed += event.result < 0 ? 1 : 0;
    add_saturated(row.time, time);
    if (event.result < 0) add_saturated(row.failed_time, time);
    if (!call.is_data()) continue;
    add_saturated(row.bytes, call.moved);
    const auto direction = static_cast<std::size_t>(call.direction);
    ++totals_.data[direction].count;
    add_saturated(totals_.data[direction].bytes, call.moved);
    add_saturated(totals_.data_time, time);
    if ((event.flags & flag::kAsynchronous) != 0) add_saturated(totals_.asynchronous_bytes, call.moved);
    if (call.moved < kSmall) {
      ++totals_.small;
      add_saturated(totals_.small_time, time);
    }
    if (event.offset >= 0) {
      ++totals_.positioned[direction];
      if (event.offset % kAlignment != 0) {
        ++totals_.unaligned[direction];
        add_saturated(totals_.unaligned_time, time);
      }
    }
    if (call.sequence == Sequence::kRandom) add_saturated(totals_.random_time[direction], time);
    count(totals_.order[direction], call.sequence);
  }
}

void TotalsAnalyser::store_results(Report& report) const {
  const Totals previous_totals = report.totals;  // counted by the analysis itself
  report.totals = totals_;
  report.totals.events = previous_totals.events;
  report.totals.wall = previous_totals.wall;
  report.totals.cpu = previous_totals.cpu;
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
