// Where names of stores lead, for the modules of the package: not public.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>

#include "attributes.hpp"
#include "bind.hpp"
#include "container/hdf5/netcdf4/netcdf_fill.hpp"
#include "container/registry.hpp"
#include "driver/locating.hpp"
#include "driver/pipe/driver.hpp"
#include "driver/registry.hpp"
#include "string.hpp"
#include "typed.hpp"
#include "unlocked.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace plait::python {

namespace {

void bind_formats(nb::module_& module) {
  module.def(
      "refused_attributes",
      [](const std::string& target, const std::vector<RawAttribute>& attributes, bool of_group) {
        std::vector<std::string> why;
        for (const ArrayAttribute& one : attributes_of_raw(attributes))
          why.push_back(container::container_named(target).refused_attribute(target, one, of_group));
        return why;
      },
      "target"_a, "attributes"_a, "of_group"_a);
  module.def("locate", &driver::locate, "name"_a, nb::call_guard<Unlocked>());
  module.def("formats", [] {
    std::vector<std::string> names;
    for (const container::Container* one : container::containers())
      if (!one->format().empty() && std::ranges::find(names, one->format()) == names.end())
        names.emplace_back(one->format());
    return names;
  });
  module.def(
      "format_at", [](const std::string& name) { return std::string(container::container_at(name).format()); },
      "name"_a, nb::call_guard<Unlocked>());
  module.def(
      "netcdf_fill", [](const std::string& dtype) { return bytes_of(container::hdf5::netcdf_fill(dtype)); }, "dtype"_a);
  module.def(
      "is_plain",
      [](const std::string& name) {
        return driver::driver_of(name).prefix().empty() && container::array_name(name).format == nullptr;
      },
      "name"_a);
}

void bind_member(nb::module_& module) {
  using container::Member;
  nb::class_<Member>(module, "Member")
      .def_ro("name", &Member::name)
      .def_prop_ro("shape", [](const Member& self) { return to_tuple(self.content.type.shape); })
      .def_prop_ro("chunk", [](const Member& self) { return to_tuple(self.content.chunk); })
      .def_prop_ro("dimension_names", [](const Member& self) { return self.content.dimension_names; })
      .def_prop_ro("unlimited", [](const Member& self) { return to_tuple(self.content.unlimited); })
      .def_prop_ro("packed", [](const Member& self) { return self.content.packed; })
      .def_prop_ro("dtype", [](const Member& self) { return self.content.type.dtype; })
      .def_prop_ro("element_bytes", [](const Member& self) { return self.content.type.element_bytes; })
      .def_prop_ro("order", [](const Member& self) { return self.content.type.order == Order::kC ? "C" : "F"; })
      .def_prop_ro("offset", [](const Member& self) { return self.content.data_offset; })
      .def_ro("element", &Member::element)
      .def_ro("stored", &Member::stored)
      .def_ro("kept", &Member::kept)
      .def_ro("refused", &Member::refused)
      .def_ro("has_elements", &Member::has_elements)
      .def_prop_ro("fill", [](const Member& self) { return bytes_of(self.content.fill); })
      .def_prop_ro("attributes", [](const Member& self) { return raw_attributes(self.content.attributes); });
}

}  // namespace

void bind_location(nb::module_& module) {
  using driver::ComponentFile;
  using driver::Located;
  nb::class_<ComponentFile>(module, "ComponentFile")
      .def_ro("path", &ComponentFile::path)
      .def_ro("bytes", &ComponentFile::bytes);
  nb::class_<Located>(module, "Located")
      .def_ro("kind", &Located::kind)
      .def_ro("name", &Located::name)
      .def_ro("file", &Located::file)
      .def_ro("path", &Located::path)
      .def_ro("id", &Located::id)
      .def_ro("components", &Located::components)
      .def_ro("unit", &Located::unit)
      .def_ro("only_in", &Located::only_in)
      .def_ro("names_arrays", &Located::names_arrays)
      .def_ro("keeps_chunks", &Located::keeps_chunks)
      .def_ro("adds_arrays", &Located::adds_arrays)
      .def_prop_ro("only_order",
                   [](const Located& self) -> std::optional<std::string> {
                     if (!self.only_order) return std::nullopt;
                     return *self.only_order == Order::kC ? "C" : "F";
                   })
      .def_ro("keeps_unfinished", &Located::keeps_unfinished)
      .def_ro("tells", &Located::tells);
  bind_member(module);
  module.def("arrays_in", &driver::arrays_in, "name"_a, nb::call_guard<Unlocked>());
  module.def("remove_unfinished", &driver::remove_unfinished, "name"_a, nb::call_guard<Unlocked>());
  module.def(
      "groups_in",
      [](const std::string& name) {
        std::vector<GroupAttributes> found;
        {
          const Unlocked release;
          found = driver::groups_in(name);
        }
        std::vector<std::tuple<std::string, std::vector<RawAttribute>, std::vector<RawDimension>>> groups;
        for (const GroupAttributes& one : found) {
          std::vector<RawDimension> dimensions;
          for (const GroupDimension& its : one.dimensions) dimensions.emplace_back(its.name, its.length, its.unlimited);
          groups.emplace_back(one.group, raw_attributes(one.attributes), std::move(dimensions));
        }
        return groups;
      },
      "name"_a);
  bind_formats(module);
  module.def("locate_new", &driver::locate_new, "name"_a, nb::call_guard<Unlocked>());
  module.def("files_beside", &driver::files_beside, "found"_a, nb::call_guard<Unlocked>());
  module.def(
      "comes_in_steps",
      [](const std::string& name) { return driver::driver_of(name).contents() == driver::Contents::kNone; }, "name"_a);
  module.def("pipe_prefix", [] { return std::string(driver::pipe::driver().prefix()); });
}

}  // namespace plait::python
