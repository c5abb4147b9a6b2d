#include <nanobind/nanobind.h>

#include <string>

#include "module.hpp"
#include "plait/workloads.hpp"

namespace nb = nanobind;

namespace plait::python {

void bind_workloads(nb::module_& module) {
  module.def(
      "workloads",
      [] {
        nb::list all;
        for (const trace::Workload& one : trace::workloads()) {
          nb::dict figures;
          figures["name"] = std::string(one.name).c_str();
          figures["field"] = std::string(one.field).c_str();
          figures["pattern"] = std::string(one.pattern).c_str();
          figures["seconds"] = one.seconds;
          figures["data_mb"] = one.data_mb;
          figures["total_mb"] = one.total_mb;
          figures["requests"] = one.requests;
          figures["read_mb"] = one.read_mb;
          figures["write_mb"] = one.write_mb;
          figures["reads"] = one.reads;
          figures["writes"] = one.writes;
          figures["request_kb"] = one.request_kb;
          figures["ratio"] = one.ratio;
          figures["cycles"] = one.cycles;
          figures["period"] = one.period;
          all.append(figures);
        }
        return all;
      },
      nb::sig("def workloads() -> list[dict[str, typing.Any]]"));
}

}  // namespace plait::python
