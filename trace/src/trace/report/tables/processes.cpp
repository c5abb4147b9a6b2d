// The row of each process. Its hidden time is the CPU time that it used while asynchronous requests ran.

#include "trace/report/tables/processes.hpp"

#include <algorithm>

#include "trace/report/sum.hpp"

namespace plait::trace::report {

void ProcessesAnalyser::add(std::span<const Call> calls) {
  for (const Call& call : calls) {
    if (call.process >= states_.size()) states_.resize(call.process + std::size_t{1});
    State& state = states_[call.process];
    if (state.begin < 0) state.begin = call.start;
    state.end = std::max(state.end, call.end);
    if (call.event.cpu >= 0) {
      if (state.cpu >= 0) {
        const std::int64_t overlap = std::min(call.start, state.asynchronous_end) - state.last_cpu_event;
        const std::int64_t cpu_time = call.event.cpu - state.cpu;
        state.hidden += std::max<std::int64_t>(std::min(overlap, cpu_time), 0);
      }
      state.last_cpu_event = call.start;
      state.cpu = std::max(state.cpu, call.event.cpu);
    }
    state.opens += call.opens ? 1 : 0;
    state.files += call.first_of_pair ? 1 : 0;
    if (!call.io) continue;
    state.io += std::max<std::int64_t>(call.end - call.unshared_start, 0);
    state.waited += std::max<std::int64_t>(call.end - call.unshared_wait_start, 0);
    if (!call.is_data()) continue;
    Traffic& traffic = state.data[static_cast<std::size_t>(call.direction)];
    ++traffic.count;
    add_saturated(traffic.bytes, call.moved);
    if ((call.event.flags & flag::kAsynchronous) != 0)
      state.asynchronous_end = std::max(state.asynchronous_end, call.end);
  }
}

void ProcessesAnalyser::store_results(Report& report) const {
  for (std::size_t index = 0; index < states_.size(); ++index) {
    const State& state = states_[index];
    ProcessRow row;
    row.process = lookup_.process_at(static_cast<std::uint32_t>(index));
    row.begin = std::max<std::int64_t>(state.begin, 0);
    row.end = state.end;
    row.cpu = row.process.cpu >= 0 ? row.process.cpu : state.cpu;
    row.data = state.data;
    row.opens = state.opens;
    row.files = state.files;
    row.io = state.io;
    row.waited = state.waited;
    const bool has_asynchronous = state.asynchronous_end >= 0;
    row.hidden = !has_asynchronous ? 0 : state.cpu >= 0 ? state.hidden : kUnknown;
    report.processes.push_back(std::move(row));
  }
}

}  // namespace plait::trace::report
