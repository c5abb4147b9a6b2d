/// Conversions that the parts of plait._simulation share: times, devices, series.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "bind.hpp"
#include "simulation/devices/device_kind.hpp"
#include "simulation/replay/outcome.hpp"
#include "string.hpp"

namespace plait::python {

inline double seconds(simulation::Time time) { return static_cast<double>(time) * 1e-9; }
/// Converts seconds to ns, limited to 2^53 ns (about 104 days) in either direction. NaN becomes -1.
inline simulation::Time to_time(double seconds) {
  const double time = seconds * 1e9 + 0.5;
  return time == time ? static_cast<simulation::Time>(std::clamp(time, -0x1p53, 0x1p53)) : -1;
}

/// Returns a value of a dictionary from Python.
template <typename T>
T get(const nanobind::dict& fields, const char* name) {
  return nanobind::cast<T>(fields[name]);
}

inline simulation::DeviceSpec to_device(const nanobind::dict& fields) {
  simulation::DeviceSpec spec;
  spec.kind = get<std::string>(fields, "kind");
  spec.count = get<std::int64_t>(fields, "count");
  spec.stripe = get<std::int64_t>(fields, "stripe");
  spec.flush = to_time(get<double>(fields, "flush"));
  spec.flush_writes = get<std::int64_t>(fields, "flush_writes");
  for (const auto& [name, value] : nanobind::cast<nanobind::dict>(fields["values"]))
    spec.values.emplace_back(nanobind::cast<std::string>(name), nanobind::cast<double>(value));
  return spec;
}

inline nanobind::dict series_to_dict(const simulation::TimeSeries& series) {
  nanobind::dict result;
  nanobind::list sums;
  for (const std::int64_t sum : series.sums()) sums.append(sum);
  result["interval"] = seconds(series.interval());
  result["sums"] = sums;
  return result;
}

/// elapsed  seconds of the simulation
inline nanobind::dict device_use_to_dict(const simulation::DeviceUse& use, double elapsed) {
  nanobind::dict result;
  result["name"] = to_str(use.name);
  result["reads"] = use.reads;
  result["writes"] = use.writes;
  result["read_bytes"] = use.read_bytes;
  result["write_bytes"] = use.write_bytes;
  result["busy"] = seconds(use.busy);
  result["queue_mean"] = elapsed > 0 ? use.inside * 1e-9 / elapsed : 0.0;
  result["max_queue"] = use.max_inside;
  result["hit_requests"] = use.hits;
  result["hit_bytes"] = use.hit_bytes;
  result["stalled"] = seconds(use.stalled);
  result["flushes"] = use.flushes;
  return result;
}

}  // namespace plait::python
