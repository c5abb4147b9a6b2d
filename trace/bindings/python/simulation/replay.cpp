// Recordings of traces, and the replays that run them on a simulated machine: settings and results as dictionaries.
#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "bind.hpp"
#include "gil_release.hpp"
#include "module.hpp"
#include "simulation/replay/replay.hpp"
#include "simulation_values.hpp"
#include "string.hpp"
#include "trace_reader.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace plait::python {

using namespace simulation;

namespace {

void read_cache(const nb::dict& fields, CacheSettings& cache) {
  cache.size = get<std::int64_t>(fields, "size");
  cache.block = get<std::int64_t>(fields, "block");
  cache.policy = get<std::string>(fields, "policy");
  cache.process_limit = get<std::int64_t>(fields, "process_limit");
  cache.read_ahead = static_cast<ReadAheadKind>(get<int>(fields, "read_ahead"));
  cache.read_ahead_size = get<std::int64_t>(fields, "read_ahead_size");
  cache.write = static_cast<WriteKind>(get<int>(fields, "write"));
  cache.delay = to_time(get<double>(fields, "delay"));
  cache.flush_interval = to_time(get<double>(fields, "flush_interval"));
  cache.dirty_start = get<double>(fields, "dirty_start");
  cache.dirty_limit = get<double>(fields, "dirty_limit");
  cache.coalesce = get<std::int64_t>(fields, "coalesce");
  cache.write_allocate = get<bool>(fields, "write_allocate");
}

ReplaySettings to_replay_settings(const nb::dict& fields) {
  ReplaySettings settings;
  const auto cpus = nb::cast<nb::dict>(fields["processors"]);
  settings.processors.count = get<std::int64_t>(cpus, "count");
  settings.processors.quantum = to_time(get<double>(cpus, "quantum"));
  settings.processors.switch_cost = to_time(get<double>(cpus, "switch"));
  settings.processors.call_cost = to_time(get<double>(cpus, "call"));
  settings.processors.interrupt_cost = to_time(get<double>(cpus, "interrupt"));
  const auto cache = nb::cast<nb::dict>(fields["cache"]);
  settings.processors.hit_cost = to_time(get<double>(cache, "set_up"));
  settings.processors.copy_rate = get<double>(cache, "copy_rate");
  read_cache(cache, settings.cache);
  const auto tier = nb::cast<nb::dict>(fields["tier"]);
  settings.tier.size = get<std::int64_t>(tier, "size");
  settings.tier.block = get<std::int64_t>(tier, "block");
  settings.tier.policy = get<std::string>(tier, "policy");
  settings.tier.device = to_device(nb::cast<nb::dict>(tier["device"]));
  settings.device = to_device(nb::cast<nb::dict>(fields["device"]));
  const auto program = nb::cast<nb::dict>(fields["program"]);
  settings.program.measured = get<bool>(program, "measured");
  settings.program.aggregate = get<std::int64_t>(program, "aggregate");
  settings.program.asynchronous_reads = get<bool>(program, "asynchronous_reads");
  settings.program.asynchronous_writes = get<bool>(program, "asynchronous_writes");
  settings.program.keep_waits = get<bool>(program, "keep_waits");
  return settings;
}

nb::dict latency_to_dict(const LatencyHistogram& histogram) {
  nb::dict result;
  result["count"] = histogram.count();
  result["mean"] = histogram.mean() * 1e-9;
  result["p50"] = seconds(histogram.percentile(0.5));
  result["p90"] = seconds(histogram.percentile(0.9));
  result["p99"] = seconds(histogram.percentile(0.99));
  result["most"] = seconds(histogram.maximum());
  return result;
}

nb::dict cache_counts_to_dict(const CacheCounts& counts) {
  nb::dict result;
  result["read_blocks"] = counts.read_blocks;
  result["hit_blocks"] = counts.hit_blocks;
  result["read_requests"] = counts.read_requests;
  result["hit_requests"] = counts.hit_requests;
  result["written_blocks"] = counts.written_blocks;
  result["overwritten_blocks"] = counts.overwritten_blocks;
  result["ahead_blocks"] = counts.ahead_blocks;
  result["ahead_used"] = counts.ahead_used;
  result["ahead_wasted"] = counts.ahead_wasted;
  result["evicted"] = counts.evicted;
  result["evicted_dirty"] = counts.evicted_dirty;
  result["limited"] = counts.limited;
  result["discarded"] = counts.discarded;
  return result;
}

nb::dict process_to_dict(const ProcessOutcome& outcome, const Program& program) {
  nb::dict result;
  result["trace"] = program.trace;
  result["process"] = program.process;
  result["thread"] = program.thread;
  result["rank"] = program.rank;
  result["command"] = to_str(program.command);
  result["start"] = seconds(outcome.start);
  result["end"] = seconds(outcome.end);
  result["computing"] = seconds(outcome.computing);
  result["system"] = seconds(outcome.system);
  result["waiting"] = seconds(outcome.waiting);
  result["ready"] = seconds(outcome.ready);
  result["pausing"] = seconds(outcome.pausing);
  result["barrier"] = seconds(outcome.barrier);
  result["reads"] = outcome.reads;
  result["writes"] = outcome.writes;
  result["read_bytes"] = outcome.read_bytes;
  result["write_bytes"] = outcome.write_bytes;
  result["hit_bytes"] = outcome.hit_bytes;
  return result;
}

nb::dict outcome_to_dict(const ReplayOutcome& outcome, const Recording& recording) {
  nb::dict result;
  result["elapsed"] = seconds(outcome.elapsed);
  result["drained"] = seconds(outcome.drained);
  result["idle"] = seconds(outcome.idle);
  result["computing"] = seconds(outcome.computing);
  result["system"] = seconds(outcome.system);
  result["interrupts"] = seconds(outcome.interrupts);
  result["switches"] = outcome.switches;
  result["unmatched"] = outcome.unmatched;
  result["max_dirty"] = outcome.max_dirty;
  result["cache"] = cache_counts_to_dict(outcome.cache);
  nb::list devices;
  for (const DeviceUse& use : outcome.devices) devices.append(device_use_to_dict(use, seconds(outcome.drained)));
  result["devices"] = devices;
  nb::list processes;
  for (std::size_t k = 0; k < outcome.processes.size(); ++k)
    processes.append(process_to_dict(outcome.processes[k], recording.programs()[k]));
  result["processes"] = processes;
  result["read_latency"] = latency_to_dict(outcome.read_latency);
  result["write_latency"] = latency_to_dict(outcome.write_latency);
  nb::dict series;
  series["program_read"] = series_to_dict(outcome.program_read);
  series["program_write"] = series_to_dict(outcome.program_write);
  series["device_read"] = series_to_dict(outcome.device_read);
  series["device_write"] = series_to_dict(outcome.device_write);
  series["idle"] = series_to_dict(outcome.idle_time);
  result["series"] = series;
  return result;
}

nb::dict oddities_to_dict(const TraceOddities& oddities) {
  nb::dict result;
  result["overlapping"] = oddities.overlapping;
  result["backwards"] = oddities.backwards;
  result["empty"] = oddities.empty;
  result["failed"] = oddities.failed;
  result["beyond"] = oddities.beyond;
  result["without_time"] = oddities.without_time;
  result["far"] = oddities.far;
  result["incomplete"] = oddities.incomplete;
  result["missed"] = oddities.missed;
  result["counted"] = oddities.counted;
  return result;
}

nb::dict run_replay(const Recording& recording, const nb::dict& fields, const nb::object& progress) {
  const ReplaySettings settings = to_replay_settings(fields);
  ReplayOutcome outcome;
  {
    const GilRelease unlocked;
    Replay replay(recording, settings);
    outcome = replay.run([&](double share) {
      const nb::gil_scoped_acquire locked;
      if (PyErr_CheckSignals() != 0) nb::raise_python_error();
      if (!progress.is_none()) progress(share);
    });
  }
  return outcome_to_dict(outcome, recording);
}

}  // namespace

void bind_replay(nb::module_& module) {
  nb::class_<Recording>(module, "Recording")
      .def(nb::init<>())
      .def(
          "add",
          [](Recording& recording, const nb::object& trace, const nb::object& progress) {
            PythonTrace reader(trace);
            recording.add(reader, [&](std::int64_t read, std::int64_t all) {
              if (PyErr_CheckSignals() != 0) nb::raise_python_error();
              if (!progress.is_none()) progress(read, all);
            });
          },
          "trace"_a, "progress"_a = nb::none(),
          nb::sig("def add(self, trace: typing.Any, progress: typing.Any = None) -> None"))
      .def_prop_ro("requests", &Recording::requests)
      .def_prop_ro("bytes", &Recording::bytes)
      .def_prop_ro("logical", &Recording::logical)
      .def_prop_ro("elapsed", [](const Recording& recording) { return seconds(recording.elapsed()); })
      .def_prop_ro("programs", [](const Recording& recording) { return recording.programs().size(); })
      .def_prop_ro("files", [](const Recording& recording) { return recording.files().size(); })
      .def_prop_ro("extent",
                   [](const Recording& recording) {
                     std::int64_t sum = 0;
                     for (const RecordedFile& file : recording.files()) sum += file.extent;
                     return sum;
                   })
      .def_prop_ro("spooled", [](const Recording& recording) { return recording.spool().bytes(); })
      .def_prop_ro(
          "oddities", [](const Recording& recording) { return oddities_to_dict(recording.oddities()); },
          nb::sig("def oddities(self, /) -> dict[str, int]"));
  module.def("replay", &run_replay, "recording"_a, "settings"_a, "progress"_a = nb::none(),
             nb::sig("def replay(recording: Recording, settings: dict[str, typing.Any], progress: typing.Any = None) "
                     "-> dict[str, typing.Any]"));
  module.def(
      "devices",
      [] {
        nb::list all;
        for (const DeviceKind* kind : device_kinds()) {
          nb::list parameters;
          for (const DeviceParameter& parameter : kind->parameters)
            parameters.append(nb::make_tuple(to_str(parameter.name), static_cast<int>(parameter.unit),
                                             parameter.fallback, to_str(parameter.about), to_str(parameter.choices)));
          all.append(nb::make_tuple(to_str(kind->name), to_str(kind->about), parameters));
        }
        return all;
      },
      nb::sig("def devices() -> list[tuple[str, str, list[tuple[str, int, float, str, str]]]]"));
  module.attr("READ_AHEAD") = to_str(kReadAheadNames);
  module.attr("WRITE") = to_str(kWriteNames);
}

}  // namespace plait::python
