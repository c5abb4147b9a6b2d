// The workloads of 1992 and their published figures, as dictionaries.
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
        nb::list rows;
        for (const trace::Workload& workload : trace::workloads()) {
          nb::dict row;
          row["name"] = std::string(workload.name).c_str();
          row["field"] = std::string(workload.field).c_str();
          row["pattern"] = std::string(workload.pattern).c_str();
          row["seconds"] = workload.seconds;
          row["data_mb"] = workload.data_mb;
          row["total_mb"] = workload.total_mb;
          row["requests"] = workload.requests;
          row["read_mb"] = workload.read_mb;
          row["write_mb"] = workload.write_mb;
          row["reads"] = workload.reads;
          row["writes"] = workload.writes;
          row["request_kb"] = workload.request_kb;
          row["ratio"] = workload.ratio;
          row["cycles"] = workload.cycles;
          row["period"] = workload.period;
          rows.append(row);
        }
        return rows;
      },
      nb::sig("def workloads() -> list[dict[str, typing.Any]]"));
}

}  // namespace plait::python
