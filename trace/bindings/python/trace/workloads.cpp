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
        for (const trace::Workload& workload : trace::workloads()) {
          nb::dict figures;
          figures["name"] = std::string(workload.name).c_str();
          figures["field"] = std::string(workload.field).c_str();
          figures["pattern"] = std::string(workload.pattern).c_str();
          figures["seconds"] = workload.seconds;
          figures["data_mb"] = workload.data_mb;
          figures["total_mb"] = workload.total_mb;
          figures["requests"] = workload.requests;
          figures["read_mb"] = workload.read_mb;
          figures["write_mb"] = workload.write_mb;
          figures["reads"] = workload.reads;
          figures["writes"] = workload.writes;
          figures["request_kb"] = workload.request_kb;
          figures["ratio"] = workload.ratio;
          figures["cycles"] = workload.cycles;
          figures["period"] = workload.period;
          all.append(figures);
        }
        return all;
      },
      nb::sig("def workloads() -> list[dict[str, typing.Any]]"));
}

}  // namespace plait::python
