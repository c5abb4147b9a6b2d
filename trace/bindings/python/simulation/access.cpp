// Simulated accesses of many ranks, with the settings and results as dictionaries of Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "bind.hpp"
#include "gil_release.hpp"
#include "module.hpp"
#include "plait/layout.hpp"
#include "plan/access/explain_access.hpp"
#include "simulation/access/simulated_access.hpp"
#include "simulation_values.hpp"
#include "string.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace plait::python {

using namespace simulation;

namespace {

AccessRequest to_request(const Layout& layout, const nb::dict& fields) {
  AccessRequest request{
      plan::Section(get<Extents>(fields, "shape"), get<bool>(fields, "fortran") ? Order::kFortran : Order::kC, {},
                    get<Extents>(fields, "chunks")),
      layout,
      get<std::int64_t>(fields, "itemsize"),
      get<std::int64_t>(fields, "offset"),
      get<std::int64_t>(fields, "ranks"),
      get<bool>(fields, "write"),
      {}};
  request.options.strategy = static_cast<plan::Strategy>(get<int>(fields, "strategy"));
  request.options.memory_bytes = get<std::int64_t>(fields, "memory");
  request.options.readers = get<std::int64_t>(fields, "readers");
  return request;
}

AccessSettings to_settings(const nb::dict& fields) {
  AccessSettings settings;
  const auto nodes = nb::cast<nb::dict>(fields["nodes"]);
  settings.nodes.ranks = get<std::int64_t>(nodes, "ranks");
  settings.nodes.cores = get<std::int64_t>(nodes, "cores");
  settings.nodes.plan = to_time(get<double>(nodes, "plan"));
  settings.nodes.message = to_time(get<double>(nodes, "message"));
  const auto network = nb::cast<nb::dict>(fields["network"]);
  settings.network.latency = to_time(get<double>(network, "latency"));
  settings.network.link_rate = get<double>(network, "link_rate");
  settings.network.total_rate = get<double>(network, "total_rate");
  settings.network.eager = get<std::int64_t>(network, "eager");
  const auto files = nb::cast<nb::dict>(fields["files"]);
  settings.files.device = to_device(nb::cast<nb::dict>(fields["device"]));
  settings.files.cached = get<bool>(files, "cached");
  settings.files.write_through = get<bool>(files, "through");
  settings.files.writers_take_turns = get<bool>(files, "turns");
  settings.files.dirty_start = get<std::int64_t>(files, "dirty_start");
  settings.files.dirty_limit = get<std::int64_t>(files, "dirty_limit");
  const auto costs = nb::cast<nb::dict>(fields["costs"]);
  for (const plan::CostTerm& term : plan::kCostTerms) settings.costs.*term.value = get<double>(costs, term.name);
  settings.costs.source = get<std::string>(fields, "source");
  settings.windows = get<std::int64_t>(fields, "windows");
  settings.file_end = get<std::int64_t>(fields, "file_end");
  return settings;
}

constexpr std::array<const char*, kPhases> kPhaseNames{"plan", "file", "exchange", "copy", "waiting"};

/// Returns a list, indexed by rank, for each property of ranks.
nb::dict ranks_to_dict(const std::vector<RankOutcome>& ranks) {
  const auto column = [&](auto&& value) {
    nb::list column_values;
    for (const RankOutcome& outcome : ranks) column_values.append(value(outcome));
    return column_values;
  };
  nb::dict result;
  for (std::size_t k = 0; k < kPhases; ++k)
    result[kPhaseNames[k]] = column([k](const RankOutcome& outcome) { return seconds(outcome.times[k]); });
  result["requests"] = column([](const RankOutcome& outcome) { return outcome.requests; });
  result["bytes"] = column([](const RankOutcome& outcome) { return outcome.bytes; });
  result["sent"] = column([](const RankOutcome& outcome) { return outcome.sent; });
  result["sent_bytes"] = column([](const RankOutcome& outcome) { return outcome.sent_bytes; });
  result["received"] = column([](const RankOutcome& outcome) { return outcome.received; });
  result["received_bytes"] = column([](const RankOutcome& outcome) { return outcome.received_bytes; });
  return result;
}

nb::dict outcome_to_dict(const AccessOutcome& outcome) {
  nb::dict result;
  result["elapsed"] = seconds(outcome.elapsed);
  result["drained"] = seconds(outcome.drained);
  result["nodes"] = outcome.nodes;
  result["windows"] = outcome.windows;
  result["simulated"] = outcome.simulated;
  result["whole_windows"] = outcome.whole_windows;
  result["ranks"] = ranks_to_dict(outcome.ranks);
  nb::list links;
  for (const LinkUse& link : outcome.links) links.append(nb::make_tuple(link.from, link.to, link.messages, link.bytes));
  result["links"] = links;
  nb::list devices;
  for (const DeviceUse& use : outcome.devices) devices.append(device_use_to_dict(use, seconds(outcome.drained)));
  result["devices"] = devices;
  nb::dict series;
  for (std::size_t k = 0; k < kPhases; ++k) series[kPhaseNames[k]] = series_to_dict(outcome.series[k]);
  result["series"] = series;
  return result;
}

nb::dict run(const Layout& layout, const nb::dict& request_fields, const nb::dict& machine,
             const nb::object& progress) {
  const AccessRequest request = to_request(layout, request_fields);
  const AccessSettings settings = to_settings(machine);
  AccessOutcome outcome;
  const auto store = get<std::string>(request_fields, "store");
  std::string explained;
  {
    const GilRelease unlocked;
    explained = plan::explain(plan_simulated_access(request, settings), store);
    outcome = simulate_access(request, settings, [&](double share) {
      const nb::gil_scoped_acquire locked;
      if (PyErr_CheckSignals() != 0) nb::raise_python_error();
      if (!progress.is_none()) progress(share);
    });
  }
  nb::dict result = outcome_to_dict(outcome);
  result["explained"] = to_str(explained);
  return result;
}

}  // namespace

void bind_access(nb::module_& module) {
  module.def("simulate_access", &run, "layout"_a, "access"_a, "machine"_a, "progress"_a = nb::none(),
             nb::sig("def simulate_access(layout: typing.Any, access: dict[str, typing.Any], machine: dict[str, "
                     "typing.Any], progress: typing.Any = None) -> dict[str, typing.Any]"));
}

}  // namespace plait::python
