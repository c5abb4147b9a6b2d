// Accesses of many ranks on the virtual clock.
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

AccessRequest to_request(const Layout& layout, const nb::dict& given) {
  AccessRequest asked{
      plan::Section(get<Extents>(given, "shape"), get<bool>(given, "fortran") ? Order::kFortran : Order::kC, {},
                    get<Extents>(given, "chunks")),
      layout,
      get<std::int64_t>(given, "itemsize"),
      get<std::int64_t>(given, "offset"),
      get<std::int64_t>(given, "ranks"),
      get<bool>(given, "write"),
      {}};
  asked.options.strategy = static_cast<plan::Strategy>(get<int>(given, "strategy"));
  asked.options.memory_bytes = get<std::int64_t>(given, "memory");
  asked.options.readers = get<std::int64_t>(given, "readers");
  return asked;
}

AccessSettings to_settings(const nb::dict& given) {
  AccessSettings settings;
  const auto nodes = nb::cast<nb::dict>(given["nodes"]);
  settings.nodes.ranks = get<std::int64_t>(nodes, "ranks");
  settings.nodes.cores = get<std::int64_t>(nodes, "cores");
  settings.nodes.plan = to_time(get<double>(nodes, "plan"));
  settings.nodes.message = to_time(get<double>(nodes, "message"));
  const auto network = nb::cast<nb::dict>(given["network"]);
  settings.network.latency = to_time(get<double>(network, "latency"));
  settings.network.link_rate = get<double>(network, "link_rate");
  settings.network.total_rate = get<double>(network, "total_rate");
  settings.network.eager = get<std::int64_t>(network, "eager");
  const auto files = nb::cast<nb::dict>(given["files"]);
  settings.files.device = to_device(nb::cast<nb::dict>(given["device"]));
  settings.files.cached = get<bool>(files, "cached");
  settings.files.through = get<bool>(files, "through");
  settings.files.turns = get<bool>(files, "turns");
  settings.files.dirty_start = get<std::int64_t>(files, "dirty_start");
  settings.files.dirty_limit = get<std::int64_t>(files, "dirty_limit");
  const auto costs = nb::cast<nb::dict>(given["costs"]);
  for (const plan::CostTerm& term : plan::kCostTerms) settings.costs.*term.value = get<double>(costs, term.name);
  settings.costs.source = get<std::string>(given, "source");
  settings.windows = get<std::int64_t>(given, "windows");
  settings.file_end = get<std::int64_t>(given, "file_end");
  return settings;
}

constexpr std::array<const char*, kPhases> kPhaseNames{"plan", "file", "exchange", "copy", "waiting"};

/// Returns one list for each property of ranks, indexed by rank.
nb::dict ranks_to_dict(const std::vector<RankOutcome>& ranks) {
  const auto column = [&](auto&& value) {
    nb::list made;
    for (const RankOutcome& one : ranks) made.append(value(one));
    return made;
  };
  nb::dict made;
  for (std::size_t k = 0; k < kPhases; ++k)
    made[kPhaseNames[k]] = column([k](const RankOutcome& one) { return seconds(one.times[k]); });
  made["requests"] = column([](const RankOutcome& one) { return one.requests; });
  made["bytes"] = column([](const RankOutcome& one) { return one.bytes; });
  made["sent"] = column([](const RankOutcome& one) { return one.sent; });
  made["sent_bytes"] = column([](const RankOutcome& one) { return one.sent_bytes; });
  made["received"] = column([](const RankOutcome& one) { return one.received; });
  made["received_bytes"] = column([](const RankOutcome& one) { return one.received_bytes; });
  return made;
}

nb::dict outcome_to_dict(const AccessOutcome& one) {
  nb::dict made;
  made["elapsed"] = seconds(one.elapsed);
  made["drained"] = seconds(one.drained);
  made["nodes"] = one.nodes;
  made["windows"] = one.windows;
  made["simulated"] = one.simulated;
  made["whole_windows"] = one.whole_windows;
  made["ranks"] = ranks_to_dict(one.ranks);
  nb::list links;
  for (const LinkUse& link : one.links) links.append(nb::make_tuple(link.from, link.to, link.messages, link.bytes));
  made["links"] = links;
  nb::list devices;
  for (const DeviceUse& use : one.devices) devices.append(device_use(use, seconds(one.drained)));
  made["devices"] = devices;
  nb::dict series;
  for (std::size_t k = 0; k < kPhases; ++k) series[kPhaseNames[k]] = series_to_dict(one.series[k]);
  made["series"] = series;
  return made;
}

nb::dict run(const Layout& layout, const nb::dict& given, const nb::dict& machine, const nb::object& progress) {
  const AccessRequest asked = to_request(layout, given);
  const AccessSettings settings = to_settings(machine);
  AccessOutcome outcome;
  const auto store = get<std::string>(given, "store");
  std::string explained;
  {
    const GilRelease unlocked;
    explained = plan::explain(plan_on(asked, settings), store);
    outcome = simulate_access(asked, settings, [&](double share) {
      const nb::gil_scoped_acquire locked;
      if (PyErr_CheckSignals() != 0) nb::raise_python_error();
      if (!progress.is_none()) progress(share);
    });
  }
  nb::dict made = outcome_to_dict(outcome);
  made["explained"] = to_str(explained);
  return made;
}

}  // namespace

void bind_access(nb::module_& module) {
  module.def("simulate_access", &run, "layout"_a, "access"_a, "machine"_a, "progress"_a = nb::none(),
             nb::sig("def simulate_access(layout: typing.Any, access: dict[str, typing.Any], machine: dict[str, "
                     "typing.Any], progress: typing.Any = None) -> dict[str, typing.Any]"));
}

}  // namespace plait::python
