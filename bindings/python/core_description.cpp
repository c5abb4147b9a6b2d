// Values that describe arrays: attributes, properties, options.

#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/encoding/decoder.hpp"
#include "base/encoding/encoder.hpp"
#include "base/errors.hpp"
#include "bind.hpp"
#include "container/content.hpp"
#include "container/encoding.hpp"
#include "plait/array_description.hpp"
#include "plait/file_options.hpp"
#include "string.hpp"
#include "typed.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace plait::python {

namespace {

std::string order_text(Order order) { return order == Order::kC ? "C" : "F"; }
Order parse_order(const std::string& text) {
  if (text != "C" && text != "F") base::throw_argument_error("order \"", text, "\" is not known; use \"C\" or \"F\"");
  return text == "F" ? Order::kFortran : Order::kC;
}

std::vector<std::byte> to_byte_vector(const nb::bytes& bytes) {
  const auto* begin = static_cast<const std::byte*>(bytes.data());
  return {begin, begin + bytes.size()};
}
nb::bytes copy_values(const ArrayAttribute& self) { return nb::bytes(self.values.data(), self.values.size()); }

const base::EncodingSource kPickle{"a pickled attribute", "pickle and read it with the same Plait", EINVAL};

using OptionalTuple = std::optional<NumberTuple>;

/// Converts a property to Python: sizes and names become tuples.
NumberTuple to_python(const std::vector<std::int64_t>& numbers) { return to_tuple(numbers); }
OptionalTuple to_python(const std::optional<Extents>& shape) {
  return shape ? OptionalTuple(to_tuple(*shape)) : std::nullopt;
}
TextTuple to_python(const std::vector<std::string>& texts) {
  nb::list list;
  for (const std::string& text : texts) list.append(nb::cast(text));
  return TextTuple(nb::tuple(list));
}
template <class Value>
const Value& to_python(const Value& value) {
  return value;
}

void bind_attribute(nb::module_& module) {
  nb::class_<ArrayAttribute> attribute(module, "ArrayAttribute");
  attribute.attr("__hash__") = nb::none();
  attribute
      .def(
          "__init__",
          [](ArrayAttribute* self, const std::string& name, const std::string& dtype, const Extents& shape,
             const nb::bytes& values, const std::vector<std::string>& texts) {
            new (self) ArrayAttribute{name, dtype, shape, to_byte_vector(values), texts};
          },
          "name"_a, "dtype"_a, "shape"_a, nb::kw_only(), "values"_a = nb::bytes("", 0),
          "texts"_a = std::vector<std::string>())
      .def_ro("name", &ArrayAttribute::name)
      .def_ro("dtype", &ArrayAttribute::dtype)
      .def_prop_ro("shape", [](const ArrayAttribute& self) { return to_tuple(self.shape); })
      .def_prop_ro("values", &copy_values)
      .def_ro("texts", &ArrayAttribute::texts)
      .def_ro("error", &ArrayAttribute::error)
      .def(nb::self == nb::self, nb::sig(kEqual))
      .def("__getstate__",
           [](const ArrayAttribute& self) {
             const std::string encoded = base::encode(self);
             return nb::bytes(encoded.data(), encoded.size());
           })
      .def("__setstate__", [](ArrayAttribute& self, const nb::bytes& state) {
        new (&self)
            ArrayAttribute(base::decode<ArrayAttribute>(std::string_view(state.c_str(), state.size()), kPickle));
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

void bind_type(nb::module_& module) {
  nb::class_<ArrayType>(module, "ArrayType")
      .def(
          "__init__",
          [](ArrayType* self, const Extents& shape, const std::string& dtype, std::int64_t element_bytes,
             const std::string& order) { new (self) ArrayType{shape, dtype, element_bytes, parse_order(order)}; },
          "shape"_a, "dtype"_a, "element_bytes"_a, "order"_a = "C")
      .def_prop_ro("shape", [](const ArrayType& self) { return to_tuple(self.shape); })
      .def_ro("dtype", &ArrayType::dtype)
      .def_ro("element_bytes", &ArrayType::element_bytes)
      .def_prop_ro("order", [](const ArrayType& self) { return order_text(self.order); });
}

void bind_array(nb::module_& module) {
  nb::class_<ArrayProperties> properties(module, "ArrayProperties");
  for_each_property([&](const char* name, const char*, auto member) {
    using Value = std::remove_cvref_t<decltype(ArrayProperties().*member)>;
    properties.def_prop_rw(
        name, [member](const ArrayProperties& self) { return to_python(self.*member); },
        [member](ArrayProperties& self, const Value& value) { self.*member = value; },
        nb::for_setter(nb::arg(name).none(std::is_same_v<Value, std::optional<Extents>>)));
  });
  nb::class_<ArrayDescription, ArrayProperties>(module, "ArrayDescription")
      .def(nb::init<>())
      .def(nb::init<const ArrayDescription&>(), "other"_a)
      .def_rw("name", &ArrayDescription::name)
      .def_rw("type", &ArrayDescription::type)
      .def_prop_ro("shape", [](const ArrayDescription& self) { return to_tuple(self.type.shape); })
      .def_prop_ro("order", [](const ArrayDescription& self) { return order_text(self.type.order); });
  using container::Content;
  nb::class_<Content, ArrayDescription>(module, "Content")
      .def(
          "__init__",
          [](Content* self, const Extents& shape, const std::string& order, std::int64_t element_bytes,
             const std::optional<Extents>& chunks, bool whole_chunks) {
            new (self) Content(ArrayType{shape, "", element_bytes, parse_order(order)}, 0);
            self->chunk = chunks;
            self->whole_chunks = whole_chunks;
          },
          "shape"_a = Extents(), "order"_a = "C", "element_bytes"_a = 0, "chunks"_a.none() = nb::none(),
          "whole_chunks"_a = false)
      .def(nb::init<const Content&>(), "other"_a)
      .def_ro("offset", &Content::data_offset)
      .def_rw("whole_chunks", &Content::whole_chunks)
      .def_prop_rw(
          "fill", [](const Content& self) { return nb::bytes(self.fill.data(), self.fill.size()); },
          [](Content& self, const nb::bytes& fill) { self.fill = to_byte_vector(fill); });
}

}  // namespace

void bind_description(nb::module_& module) {
  bind_attribute(module);
  bind_type(module);
  bind_array(module);
  nb::class_<FileOptions, ArrayProperties>(module, "FileOptions")
      .def(nb::init<>())
      .def(
          "__init__",
          [](FileOptions* self, const ArrayDescription& array) { new (self) FileOptions(options_for(array)); },
          "array"_a)
      .def_rw("shape", &FileOptions::shape)
      .def_rw("dtype", &FileOptions::dtype)
      .def_rw("element_bytes", &FileOptions::element_bytes)
      .def_prop_rw(
          "order",
          [](const FileOptions& self) { return self.order ? std::optional(order_text(*self.order)) : std::nullopt; },
          [](FileOptions& self, const std::optional<std::string>& order) {
            self.order = order ? std::optional(parse_order(*order)) : std::nullopt;
          },
          nb::for_setter(nb::arg("order").none()))
      .def_rw("offset", &FileOptions::offset)
      .def_rw("arrays", &FileOptions::arrays)
      .def_rw("groups", &FileOptions::groups)
      .def_prop_rw(
          "library_copies",
          [](const FileOptions& self) { return std::pair(self.library_copies.source, self.library_copies.arrays); },
          [](FileOptions& self,
             const std::pair<std::string, std::vector<std::pair<std::string, std::string>>>& copies) {
            self.library_copies = {copies.first, copies.second, self.library_copies.skips};
          })
      .def_prop_rw(
          "skips_library_copies", [](const FileOptions& self) { return self.library_copies.skips; },
          [](FileOptions& self, bool skips) { self.library_copies.skips = skips; })
      .def_rw("keeps_unfinished", &FileOptions::keeps_unfinished)
      .def_rw("continues", &FileOptions::continues)
      .def_rw("durable", &FileOptions::durable)
      .def_rw("memory", &FileOptions::memory)
      .def_rw("strategy", &FileOptions::strategy)
      .def_rw("readers", &FileOptions::readers);
}

}  // namespace plait::python
