// The constants of the cost model, for internal use by the package.

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "bind.hpp"
#include "core/costs/measured_costs.hpp"
#include "string.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace plait::python {

void bind_costs(nb::module_& module) {
  module.def(
      "costs",
      [](bool builtin) {
        const std::shared_ptr<const plan::CostModel> measured = builtin ? nullptr : core::costs_here();
        const plan::CostModel model = measured ? *measured : plan::CostModel{};
        std::map<std::string, double> values;
        for (const plan::CostTerm& term : plan::kCostTerms) values[term.name] = model.*term.value;
        return std::pair(model.source, values);
      },
      "builtin"_a);
  module.def("costs_path", &core::costs_path);
  module.def("this_machine", [] {
    const core::Machine machine = core::this_machine();
    return std::tuple(core::kCostsVersion, machine.host, machine.processor, machine.cores);
  });
}

}  // namespace plait::python
