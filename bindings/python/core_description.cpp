// Values that describe arrays: attributes, properties, options.

#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>
#include <vector>

#include "base/errors.hpp"
#include "bind.hpp"
#include "plait/array_description.hpp"
#include "plait/file_options.hpp"
#include "string.hpp"
#include "typed.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace plait::python {

namespace {

std::string order_text(Order order) { return order == Order::kC ? "C" : "F"; }
Order order_of(const std::string& text) {
  if (text != "C" && text != "F") base::throw_argument_error("order \"", text, "\" is not known; use \"C\" or \"F\"");
  return text == "F" ? Order::kFortran : Order::kC;
}

std::vector<std::byte> values_of(const nb::bytes& bytes) {
  const auto* begin = static_cast<const std::byte*>(bytes.data());
  return {begin, begin + bytes.size()};
}
nb::bytes bytes_of_values(const ArrayAttribute& self) { return nb::bytes(self.values.data(), self.values.size()); }

using AttributeState = std::tuple<std::string, std::string, Extents, nb::bytes, std::vector<std::string>, std::string>;

void bind_attribute(nb::module_& module) {
  nb::class_<ArrayAttribute> attribute(module, "ArrayAttribute");
  attribute.attr("__hash__") = nb::none();
  attribute
      .def(
          "__init__",
          [](ArrayAttribute* self, const std::string& name, const std::string& dtype, const Extents& shape,
             const nb::bytes& values, const std::vector<std::string>& texts) {
            new (self) ArrayAttribute{name, dtype, shape, values_of(values), texts};
          },
          "name"_a, "dtype"_a, "shape"_a, nb::kw_only(), "values"_a = nb::bytes("", 0),
          "texts"_a = std::vector<std::string>())
      .def_ro("name", &ArrayAttribute::name)
      .def_ro("dtype", &ArrayAttribute::dtype)
      .def_prop_ro("shape", [](const ArrayAttribute& self) { return to_tuple(self.shape); })
      .def_prop_ro("values", &bytes_of_values)
      .def_ro("texts", &ArrayAttribute::texts)
      .def_ro("refused", &ArrayAttribute::refused)
      .def(nb::self == nb::self, nb::sig(kEqual))
      .def("__getstate__",
           [](const ArrayAttribute& self) {
             return AttributeState(self.name, self.dtype, self.shape, bytes_of_values(self), self.texts, self.refused);
           })
      .def("__setstate__", [](ArrayAttribute& self, const AttributeState& state) {
        const auto& [name, dtype, shape, values, texts, refused] = state;
        new (&self) ArrayAttribute{name, dtype, shape, values_of(values), texts, refused};
      });
  nb::class_<GroupDimension>(module, "GroupDimension")
      .def_ro("name", &GroupDimension::name)
      .def_ro("length", &GroupDimension::length)
      .def_ro("unlimited", &GroupDimension::unlimited);
  nb::class_<GroupAttributes>(module, "GroupAttributes")
      .def(
          "__init__",
          [](GroupAttributes* self, const std::string& group, const ArrayAttributes& attributes) {
            new (self) GroupAttributes{group, attributes};
          },
          "group"_a, "attributes"_a)
      .def_ro("group", &GroupAttributes::group)
      .def_ro("attributes", &GroupAttributes::attributes)
      .def_ro("dimensions", &GroupAttributes::dimensions);
}

}  // namespace

void bind_description(nb::module_& module) {
  bind_attribute(module);
  nb::class_<ArrayProperties>(module, "ArrayProperties")
      .def_rw("chunk", &ArrayProperties::chunk)
      .def_rw("shard", &ArrayProperties::shard)
      .def_rw("codec", &ArrayProperties::codec)
      .def_rw("fill_value", &ArrayProperties::fill_value)
      .def_rw("dimension_names", &ArrayProperties::dimension_names)
      .def_rw("unlimited", &ArrayProperties::unlimited)
      .def_rw("attributes", &ArrayProperties::attributes);
  nb::class_<ArrayDescription, ArrayProperties>(module, "ArrayDescription")
      .def(nb::init<>())
      .def_rw("name", &ArrayDescription::name)
      .def_prop_rw(
          "shape", [](const ArrayDescription& self) { return self.type.shape; },
          [](ArrayDescription& self, const Extents& shape) { self.type.shape = shape; })
      .def_prop_rw(
          "dtype", [](const ArrayDescription& self) { return self.type.dtype; },
          [](ArrayDescription& self, const std::string& dtype) { self.type.dtype = dtype; })
      .def_prop_rw(
          "element_bytes", [](const ArrayDescription& self) { return self.type.element_bytes; },
          [](ArrayDescription& self, std::int64_t bytes) { self.type.element_bytes = bytes; })
      .def_prop_rw(
          "order", [](const ArrayDescription& self) { return order_text(self.type.order); },
          [](ArrayDescription& self, const std::string& order) { self.type.order = order_of(order); });
  nb::class_<FileOptions, ArrayProperties>(module, "FileOptions")
      .def(nb::init<>())
      .def_rw("shape", &FileOptions::shape)
      .def_rw("dtype", &FileOptions::dtype)
      .def_rw("element_bytes", &FileOptions::element_bytes)
      .def_prop_rw(
          "order",
          [](const FileOptions& self) { return self.order ? std::optional(order_text(*self.order)) : std::nullopt; },
          [](FileOptions& self, const std::optional<std::string>& order) {
            self.order = order ? std::optional(order_of(*order)) : std::nullopt;
          },
          nb::for_setter(nb::arg("order").none()))
      .def_rw("offset", &FileOptions::offset)
      .def_rw("arrays", &FileOptions::arrays)
      .def_rw("groups", &FileOptions::groups)
      .def_rw("keeps_unfinished", &FileOptions::keeps_unfinished)
      .def_rw("continues", &FileOptions::continues)
      .def_rw("memory", &FileOptions::memory)
      .def_rw("strategy", &FileOptions::strategy)
      .def_rw("readers", &FileOptions::readers);
}

}  // namespace plait::python
