// Array files of plait._core.
//
// Arguments are converted while the interpreter's lock is held, because they are Python objects. The lock is then
// released for the access (GilRelease), so that other threads run, and so that a signal handler can end a wait. Results
// are converted after it has been acquired again.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>

#include "base/errors.hpp"
#include "bind.hpp"
#include "driver/driver_registry.hpp"
#include "driver/file_opening.hpp"
#include "gil_release.hpp"
#include "parts.hpp"
#include "plait/file.hpp"
#include "store/objects/open_objects.hpp"
#include "string.hpp"
#include "typed.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace plait::python {

namespace {

/// Converts (start, count, step, single) for each dimension.
Region to_region(const Sequence& slices) {
  Region region;
  for (const nb::handle slice : slices)
    region.push_back({nb::cast<std::int64_t>(slice[0]), nb::cast<std::int64_t>(slice[1]),
                      nb::cast<std::int64_t>(slice[2]), nb::cast<bool>(slice[3])});
  return region;
}

Mode parse_mode(const std::string& name) {
  if (name == "r") return Mode::kRead;
  if (name == "w") return Mode::kWrite;
  if (name == "r+") return Mode::kReadWrite;
  if (name == "a") return Mode::kAppend;
  base::throw_argument_error("mode \"" + name + "\" is not known; use \"r\", \"w\", \"r+\" or \"a\"");
}

/// Describes how a new array would be stored.
container::Content new_array(const std::string& name, const FileOptions& options) {
  const std::string path = store::canonical_name(name);
  const auto file = driver::describe_new_file(path, driver::find_driver(path).contents(), options);
  return static_cast<const container::Content&>(file->content());
}

File open(const std::string& path, const std::string& mode, const Comm& comm, const FileOptions& original) {
  const FileOptions options = original;  // a copy, because other threads of Python may change the original meanwhile
  const Mode opened = parse_mode(mode);
  const GilRelease release;
  return File::open(path, opened, options, comm);
}

Attributes to_attributes(const AttributeDict& dictionary) {
  Attributes attributes;
  for (const auto [name, value] : dictionary) {
    Attribute& attribute = attributes[nb::cast<std::string>(name)];
    if (nb::isinstance<nb::int_>(value)) {
      attribute = nb::cast<std::int64_t>(value);
    } else if (nb::isinstance<nb::float_>(value)) {
      attribute = nb::cast<double>(value);
    } else {
      attribute = nb::cast<std::string>(value);
    }
  }
  return attributes;
}

/// The number of a step, its attributes, and the names of its variables.
using StepTuple = nb::typed<nb::tuple, std::int64_t, AttributeDict, nb::typed<nb::list, nb::str>>;

StepTuple to_step_tuple(const Step& step) {
  nb::dict attributes;
  for (const auto& [name, value] : step.attributes)
    std::visit([&, key = name](const auto& attribute_value) { attributes[nb::cast(key)] = nb::cast(attribute_value); },
               value);
  nb::list variables;
  for (const std::string& name : step.variables) variables.append(nb::cast(name));
  return StepTuple(nb::make_tuple(step.number, attributes, variables));
}

}  // namespace

void bind_file(nb::module_& module) {
  nb::class_<Request>(module, "Request")
      .def("wait", &Request::wait, nb::call_guard<GilRelease>())
      .def("test", &Request::test);

  nb::class_<File>(module, "File")
      .def_prop_ro("path", &File::path)
      .def_prop_ro("shape", [](const File& self) { return to_tuple(self.type().shape); })
      .def_prop_ro("type", [](const File& self) { return self.type(); })
      .def_prop_ro("order", [](const File& self) { return self.type().order == Order::kC ? "C" : "F"; })
      .def_prop_ro("chunk", [](const File& self) { return to_tuple(self.chunk()); })
      .def_prop_ro("attributes", [](const File& self) { return self.attributes(); })
      .def("set_attribute", &File::set_attribute, "attribute"_a, nb::call_guard<GilRelease>())
      .def("remove_attribute", &File::remove_attribute, "name"_a, nb::call_guard<GilRelease>())
      .def("cache_chunks", &File::cache_chunks, "bytes"_a, nb::call_guard<GilRelease>())
      .def_prop_ro("is_open", &File::is_open)
      .def(
          "read",
          [](File& self, const Layout& layout, const Sequence& parts, const Sequence& region, bool fill_halo) {
            const auto arrays = to_parts<std::byte>(parts);
            const Region slices = to_region(region);
            const GilRelease release;
            self.read(layout, arrays, slices, fill_halo);
          },
          "layout"_a, "parts"_a, "region"_a, "fill_halo"_a)
      .def(
          "write",
          [](File& self, const Layout& layout, const Sequence& parts, const Sequence& region) {
            const auto arrays = to_parts<const std::byte>(parts);
            const Region slices = to_region(region);
            const GilRelease release;
            self.write(layout, arrays, slices);
          },
          "layout"_a, "parts"_a, "region"_a)
      .def(
          "append",
          [](File& self, const Layout& layout, const Sequence& parts, std::int64_t axis) {
            const auto arrays = to_parts<const std::byte>(parts);
            const GilRelease release;
            self.append(layout, arrays, axis);
          },
          "layout"_a, "parts"_a, "axis"_a)
      .def("resize", &File::resize, "shape"_a, nb::call_guard<GilRelease>())
      .def(
          "start_read",
          [](File& self, const Layout& layout, const Sequence& parts, const Sequence& region, bool fill_halo) {
            return self.start_read(layout, to_parts<std::byte>(parts), to_region(region), fill_halo);
          },
          "layout"_a, "parts"_a, "region"_a, "fill_halo"_a)
      .def(
          "start_write",
          [](File& self, const Layout& layout, const Sequence& parts, const Sequence& region) {
            return self.start_write(layout, to_parts<const std::byte>(parts), to_region(region));
          },
          "layout"_a, "parts"_a, "region"_a)
      .def(
          "begin_step",
          [](File& self, const AttributeDict& attributes) -> std::optional<StepTuple> {
            const Attributes values = to_attributes(attributes);
            {
              const GilRelease release;
              if (!self.begin_step(values)) return std::nullopt;
            }
            return to_step_tuple(self.step());
          },
          "attributes"_a)
      .def("end_step", &File::end_step, nb::call_guard<GilRelease>())
      .def(
          "select_variable",
          [](File& self, const std::string& name, const std::optional<ArrayType>& type) {
            const GilRelease release;
            self.select_variable(name, type);
          },
          "name"_a, "type"_a.none() = nb::none())
      .def_prop_ro("variable", &File::variable)
      .def("fail", &File::fail, nb::sig(kFail), "message"_a, "code"_a = 0, nb::call_guard<GilRelease>())
      .def(
          "explain",
          [](const File& self, const Layout& layout, const Sequence& region, bool write, bool fill_halo) {
            const Region slices = to_region(region);
            const GilRelease release;
            return self.explain(layout, slices, write, fill_halo);
          },
          "layout"_a, "region"_a, "write"_a, "fill_halo"_a)
      .def("last_times",
           [](const File& self) {
             const AccessTimes times = [&] {
               const GilRelease release;
               return self.last_times();
             }();
             return std::tuple(times.io, times.copy, times.wait, times.total);
           })
      .def_prop_ro("continued", &File::continued)
      .def_prop_ro("unfinished_path", &File::unfinished_path)
      .def("sync", &File::sync, nb::call_guard<GilRelease>())
      .def("close", &File::close, nb::call_guard<GilRelease>())
      .def("abandon", &File::abandon, "why"_a = "", nb::call_guard<GilRelease>());

  module.def("open", &open, "path"_a, "mode"_a, "comm"_a, "options"_a);
  module.def("new_array", &new_array, "path"_a, "options"_a);
  module.def("fail", &File::fail_open, nb::sig("def fail(message: str, comm: Comm, code: int = 0) -> typing.NoReturn"),
             "message"_a, "comm"_a, "code"_a = 0, nb::call_guard<GilRelease>());
}

}  // namespace plait::python
