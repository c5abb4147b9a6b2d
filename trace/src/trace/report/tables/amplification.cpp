#include "trace/report/tables/amplification.hpp"

#include "trace/report/sum.hpp"

namespace plait::trace::report {

void Amplifier::add(std::span<const Call> calls) {
  for (const Call& call : calls) {
    const Event& event = call.event;
    if (call.left_out || (event.kind != Kind::kRead && event.kind != Kind::kWrite)) continue;
    const bool logical = (event.flags & flag::kLogical) != 0;
    (logical ? has_logical_ : has_physical_) = true;
    add_saturated(logical ? sums_.logical : sums_.physical, event.moved());
    if (event.operation == 0) continue;
    if (operations_.empty()) operations_.resize(kSlots);
    const std::uint64_t mixed = (event.operation ^ std::uint64_t{call.process} << 40) * 0x9E3779B97F4A7C15u;
    OperationLevels& entry = operations_[static_cast<std::size_t>(mixed >> 46)];
    if (entry.operation != event.operation || entry.process != call.process) entry = {event.operation, call.process, 0};
    const std::uint32_t levels = entry.levels | (logical ? 1u : 2u);
    if (levels == 3 && entry.levels != 3) ++sums_.joined;
    entry.levels = levels;
  }
}

void Amplifier::store_results(Report& report) const {
  if (has_logical_ && has_physical_) report.amplification = sums_;
}

}  // namespace plait::trace::report
