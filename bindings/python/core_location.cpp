// Where names of stores lead, for the modules of the package: not public.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "bind.hpp"
#include "driver/locating.hpp"
#include "driver/pipe/driver.hpp"
#include "driver/registry.hpp"
#include "string.hpp"
#include "unlocked.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace plait::python {

void bind_location(nb::module_& module) {
  using driver::ComponentFile;
  using driver::Located;
  nb::class_<ComponentFile>(module, "ComponentFile")
      .def_ro("path", &ComponentFile::path)
      .def_ro("bytes", &ComponentFile::bytes);
  nb::class_<Located>(module, "Located")
      .def_ro("kind", &Located::kind)
      .def_ro("name", &Located::name)
      .def_ro("path", &Located::path)
      .def_ro("id", &Located::id)
      .def_ro("components", &Located::components)
      .def_ro("unit", &Located::unit)
      .def_ro("only_in", &Located::only_in)
      .def_ro("tells", &Located::tells);
  module.def("locate", &driver::locate, "name"_a, nb::call_guard<Unlocked>());
  module.def("files_beside", &driver::files_beside, "found"_a, nb::call_guard<Unlocked>());
  module.def(
      "comes_in_steps",
      [](const std::string& name) { return driver::driver_of(name).contents() == driver::Contents::kNone; }, "name"_a);
  module.def("pipe_prefix", [] { return std::string(driver::pipe::driver().prefix()); });
}

}  // namespace plait::python
