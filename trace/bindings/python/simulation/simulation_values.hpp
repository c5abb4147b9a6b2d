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

template <typename T>
T get(const nanobind::dict& given, const char* name) {
  return nanobind::cast<T>(given[name]);
}

inline simulation::DeviceSpec to_device(const nanobind::dict& given) {
  simulation::DeviceSpec spec;
  spec.kind = get<std::string>(given, "kind");
  spec.count = get<std::int64_t>(given, "count");
  spec.stripe = get<std::int64_t>(given, "stripe");
  spec.flush = to_time(get<double>(given, "flush"));
  spec.flush_writes = get<std::int64_t>(given, "flush_writes");
  for (const auto& [name, value] : nanobind::cast<nanobind::dict>(given["values"]))
    spec.values.emplace_back(nanobind::cast<std::string>(name), nanobind::cast<double>(value));
  return spec;
}

inline nanobind::dict series_to_dict(const simulation::TimeSeries& one) {
  nanobind::dict made;
  nanobind::list sums;
  for (const std::int64_t sum : one.sums()) sums.append(sum);
  made["interval"] = seconds(one.interval());
  made["sums"] = sums;
  return made;
}

inline nanobind::dict device_use(const simulation::DeviceUse& one, double elapsed) {
  nanobind::dict made;
  made["name"] = to_str(one.name);
  made["reads"] = one.reads;
  made["writes"] = one.writes;
  made["read_bytes"] = one.read_bytes;
  made["write_bytes"] = one.write_bytes;
  made["busy"] = seconds(one.busy);
  made["queue_mean"] = elapsed > 0 ? one.inside * 1e-9 / elapsed : 0.0;
  made["max_queue"] = one.most;
  made["hit_requests"] = one.hits;
  made["hit_bytes"] = one.hit_bytes;
  made["stalled"] = seconds(one.stalled);
  made["flushes"] = one.flushes;
  return made;
}

}  // namespace plait::python
