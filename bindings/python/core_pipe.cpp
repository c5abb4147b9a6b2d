// plait.pipe_status() and the state of pipes for Python.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <variant>
#include <vector>

#include "bind.hpp"
#include "gil_release.hpp"
#include "plait/pipe.hpp"
#include "string.hpp"
#include "typed.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace plait::python {

void bind_pipe(nb::module_& module) {
  nb::class_<PipeProgram>(module, "PipeProgram")
      .def_ro("name", &PipeProgram::name)
      .def_ro("process", &PipeProgram::process)
      .def_ro("host", &PipeProgram::host)
      .def_ro("processes", &PipeProgram::processes);
  nb::class_<PipeReader>(module, "PipeReader")
      .def_ro("program", &PipeReader::program)
      .def_ro("next_step", &PipeReader::next_step);
  nb::class_<PipeVariable>(module, "PipeVariable")
      .def_ro("name", &PipeVariable::name)
      .def_ro("type", &PipeVariable::type)
      .def_ro("layout", &PipeVariable::layout);
  nb::class_<PipeStatus>(module, "PipeStatus")
      .def_ro("name", &PipeStatus::name)
      .def_ro("folder", &PipeStatus::folder)
      .def_ro("writer", &PipeStatus::writer)
      .def_ro("type", &PipeStatus::type)
      .def_ro("readers", &PipeStatus::readers)
      .def_ro("steps", &PipeStatus::steps)
      .def_ro("queued", &PipeStatus::queued)
      .def_ro("queue", &PipeStatus::queue)
      .def_ro("dropped", &PipeStatus::dropped)
      .def_ro("bytes", &PipeStatus::bytes)
      .def_ro("newest", &PipeStatus::newest)
      .def_prop_ro("attributes",
                   [](const PipeStatus& self) {
                     AttributeDict attributes{nb::dict()};
                     for (const auto& [name, value] : self.attributes)
                       std::visit(
                           [&, key = name](const auto& attribute_value) {
                             attributes[nb::cast(key)] = nb::cast(attribute_value);
                           },
                           value);
                     return attributes;
                   })
      .def_ro("variables", &PipeStatus::variables);
  module.def("pipe_status", &pipe_status, "url"_a, nb::call_guard<GilRelease>());
  module.def("pipe_names", &pipe_names, nb::call_guard<GilRelease>());
}

}  // namespace plait::python
