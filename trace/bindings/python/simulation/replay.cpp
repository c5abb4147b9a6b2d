// Recordings of traces, and their replays.
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

void read_cache(const nb::dict& given, CacheSettings& cache) {
  cache.size = get<std::int64_t>(given, "size");
  cache.block = get<std::int64_t>(given, "block");
  cache.policy = get<std::string>(given, "policy");
  cache.process_limit = get<std::int64_t>(given, "process_limit");
  cache.read_ahead = static_cast<ReadAheadKind>(get<int>(given, "read_ahead"));
  cache.read_ahead_size = get<std::int64_t>(given, "read_ahead_size");
  cache.write = static_cast<WriteKind>(get<int>(given, "write"));
  cache.delay = to_time(get<double>(given, "delay"));
  cache.flush_interval = to_time(get<double>(given, "flush_interval"));
  cache.dirty_start = get<double>(given, "dirty_start");
  cache.dirty_limit = get<double>(given, "dirty_limit");
  cache.coalesce = get<std::int64_t>(given, "coalesce");
  cache.write_allocate = get<bool>(given, "write_allocate");
}

ReplaySettings to_replay_settings(const nb::dict& given) {
  ReplaySettings settings;
  const auto cpus = nb::cast<nb::dict>(given["processors"]);
  settings.processors.count = get<std::int64_t>(cpus, "count");
  settings.processors.quantum = to_time(get<double>(cpus, "quantum"));
  settings.processors.switch_cost = to_time(get<double>(cpus, "switch"));
  settings.processors.call_cost = to_time(get<double>(cpus, "call"));
  settings.processors.interrupt_cost = to_time(get<double>(cpus, "interrupt"));
  const auto cache = nb::cast<nb::dict>(given["cache"]);
  settings.processors.hit_cost = to_time(get<double>(cache, "set_up"));
  settings.processors.copy_rate = get<double>(cache, "copy_rate");
  read_cache(cache, settings.cache);
  const auto tier = nb::cast<nb::dict>(given["tier"]);
  settings.tier.size = get<std::int64_t>(tier, "size");
  settings.tier.block = get<std::int64_t>(tier, "block");
  settings.tier.policy = get<std::string>(tier, "policy");
  settings.tier.device = to_device(nb::cast<nb::dict>(tier["device"]));
  settings.device = to_device(nb::cast<nb::dict>(given["device"]));
  const auto program = nb::cast<nb::dict>(given["program"]);
  settings.program.measured = get<bool>(program, "measured");
  settings.program.aggregate = get<std::int64_t>(program, "aggregate");
  settings.program.asynchronous_reads = get<bool>(program, "asynchronous_reads");
  settings.program.asynchronous_writes = get<bool>(program, "asynchronous_writes");
  settings.program.keep_waits = get<bool>(program, "keep_waits");
  return settings;
}

nb::dict latency_to_dict(const LatencyHistogram& one) {
  nb::dict made;
  made["count"] = one.count();
  made["mean"] = one.mean() * 1e-9;
  made["p50"] = seconds(one.percentile(0.5));
  made["p90"] = seconds(one.percentile(0.9));
  made["p99"] = seconds(one.percentile(0.99));
  made["most"] = seconds(one.most());
  return made;
}

nb::dict cache_counts(const CacheCounts& one) {
  nb::dict made;
  made["read_blocks"] = one.read_blocks;
  made["hit_blocks"] = one.hit_blocks;
  made["read_requests"] = one.read_requests;
  made["hit_requests"] = one.hit_requests;
  made["written_blocks"] = one.written_blocks;
  made["overwritten_blocks"] = one.overwritten_blocks;
  made["ahead_blocks"] = one.ahead_blocks;
  made["ahead_used"] = one.ahead_used;
  made["ahead_wasted"] = one.ahead_wasted;
  made["evicted"] = one.evicted;
  made["evicted_dirty"] = one.evicted_dirty;
  made["limited"] = one.limited;
  made["discarded"] = one.discarded;
  return made;
}

nb::dict process_outcome(const ProcessOutcome& one, const Program& program) {
  nb::dict made;
  made["trace"] = program.trace;
  made["process"] = program.process;
  made["thread"] = program.thread;
  made["rank"] = program.rank;
  made["command"] = to_str(program.command);
  made["start"] = seconds(one.start);
  made["end"] = seconds(one.end);
  made["computing"] = seconds(one.computing);
  made["system"] = seconds(one.system);
  made["waiting"] = seconds(one.waiting);
  made["ready"] = seconds(one.ready);
  made["pausing"] = seconds(one.pausing);
  made["barrier"] = seconds(one.barrier);
  made["reads"] = one.reads;
  made["writes"] = one.writes;
  made["read_bytes"] = one.read_bytes;
  made["write_bytes"] = one.write_bytes;
  made["hit_bytes"] = one.hit_bytes;
  return made;
}

nb::dict outcome_to_dict(const ReplayOutcome& one, const Recording& recording) {
  nb::dict made;
  made["elapsed"] = seconds(one.elapsed);
  made["drained"] = seconds(one.drained);
  made["idle"] = seconds(one.idle);
  made["computing"] = seconds(one.computing);
  made["system"] = seconds(one.system);
  made["interrupts"] = seconds(one.interrupts);
  made["switches"] = one.switches;
  made["unmatched"] = one.unmatched;
  made["max_dirty"] = one.max_dirty;
  made["cache"] = cache_counts(one.cache);
  nb::list devices;
  for (const DeviceUse& use : one.devices) devices.append(device_use(use, seconds(one.drained)));
  made["devices"] = devices;
  nb::list processes;
  for (std::size_t k = 0; k < one.processes.size(); ++k)
    processes.append(process_outcome(one.processes[k], recording.programs()[k]));
  made["processes"] = processes;
  made["read_latency"] = latency_to_dict(one.read_latency);
  made["write_latency"] = latency_to_dict(one.write_latency);
  nb::dict series;
  series["program_read"] = series_to_dict(one.program_read);
  series["program_write"] = series_to_dict(one.program_write);
  series["device_read"] = series_to_dict(one.device_read);
  series["device_write"] = series_to_dict(one.device_write);
  series["idle"] = series_to_dict(one.idle_time);
  made["series"] = series;
  return made;
}

nb::dict oddities_to_dict(const TraceOddities& one) {
  nb::dict made;
  made["overlapping"] = one.overlapping;
  made["backwards"] = one.backwards;
  made["empty"] = one.empty;
  made["failed"] = one.failed;
  made["beyond"] = one.beyond;
  made["without_time"] = one.without_time;
  made["far"] = one.far;
  made["incomplete"] = one.incomplete;
  made["missed"] = one.missed;
  made["counted"] = one.counted;
  return made;
}

nb::dict run_replay(const Recording& recording, const nb::dict& given, const nb::object& progress) {
  const ReplaySettings settings = to_replay_settings(given);
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
        for (const DeviceKind* one : device_kinds()) {
          nb::list parameters;
          for (const DeviceParameter& parameter : one->parameters)
            parameters.append(nb::make_tuple(to_str(parameter.name), static_cast<int>(parameter.unit),
                                             parameter.fallback, to_str(parameter.about), to_str(parameter.choices)));
          all.append(nb::make_tuple(to_str(one->name), to_str(one->about), parameters));
        }
        return all;
      },
      nb::sig("def devices() -> list[tuple[str, str, list[tuple[str, int, float, str, str]]]]"));
  module.attr("READ_AHEAD") = to_str(kReadAheadNames);
  module.attr("WRITE") = to_str(kWriteNames);
}

}  // namespace plait::python
