#include "trace/report/tables/amplification.hpp"

#include "trace/report/sum.hpp"

namespace plait::trace::report {

void Amplifier::add(std::span<const Call> calls) {
  for (const Call& call : calls) {
    const Event& event = call.event;
    if (call.left_out || (event.kind != Kind::kRead && event.kind != Kind::kWrite)) continue;
    const bool logical = (event.flags & flag::kLogical) != 0;
    (logical ? logical_ : physical_) = true;
    grow(logical ? sums_.logical : sums_.physical, event.moved());
    if (event.operation == 0) continue;
    if (seen_.empty()) seen_.resize(kSlots);
    const std::uint64_t mixed = (event.operation ^ std::uint64_t{call.process} << 40) * 0x9E3779B97F4A7C15u;
    OperationLevels& levels_seen = seen_[static_cast<std::size_t>(mixed >> 46)];
    if (levels_seen.operation != event.operation || levels_seen.process != call.process)
      levels_seen = {event.operation, call.process, 0};
    const std::uint32_t levels = levels_seen.levels | (logical ? 1u : 2u);
    if (levels == 3 && levels_seen.levels != 3) ++sums_.joined;
    levels_seen.levels = levels;
  }
}

void Amplifier::result(Report& report) const {
  if (logical_ && physical_) report.amplification = sums_;
}

}  // namespace plait::trace::report
