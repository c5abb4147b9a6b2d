#include <nanobind/ndarray.h>
#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "bind.hpp"
#include "layout/notation.hpp"
#include "plait/conversion.hpp"
#include "plait/error.hpp"
#include "plait/layout.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace plait::python {

namespace {

using DistributionText = std::variant<std::string, std::vector<std::string>>;

nb::tuple to_tuple(const Extents& values) {
  nb::list list;
  for (const std::int64_t value : values) list.append(value);
  return nb::tuple(list);
}

Order order_named(const std::string& name, const char* what) {
  if (name == "C" || name == "c") return Order::kC;
  if (name == "F" || name == "f") return Order::kFortran;
  throw Error(ErrorKind::kArgument, std::string(what) + "=\"" + name + "\" is not known; use \"C\" or \"F\"");
}

std::string order_name(Order order) { return order == Order::kC ? "C" : "F"; }

Layout make_layout(const Extents& shape, const DistributionText& dist, const std::optional<Extents>& grid,
                   const std::optional<std::string>& ranks, const std::optional<std::string>& order) {
  std::string text;
  if (const auto* whole = std::get_if<std::string>(&dist)) {
    text = *whole;
  } else {
    for (const std::string& part : std::get<std::vector<std::string>>(dist)) text += (text.empty() ? "" : ", ") + part;
    text = '(' + text + ')';
  }
  layout::Notation notation = layout::parse_notation(text);
  const auto refuse = [&](const char* what) {
    throw Error(ErrorKind::kArgument, std::string(what) + " is given twice and differs: in the text \"" + text +
                                          "\" and as an argument; leave one of them out");
  };
  if (notation.shape && *notation.shape != shape) refuse("the shape");
  if (grid && notation.grid && *notation.grid != *grid) refuse("the grid");
  if (grid) notation.grid = grid;
  if (ranks) {
    const Order wanted = order_named(*ranks, "ranks");
    if (notation.ranks && *notation.ranks != wanted) refuse("ranks");
    notation.ranks = wanted;
  }
  if (order) {
    const Order wanted = order_named(*order, "order");
    if (notation.order && *notation.order != wanted) refuse("order");
    notation.order = wanted;
  }
  return layout::make_layout(notation, shape);
}

nb::tuple indices(const Layout& layout, std::int64_t rank) {
  nb::list result;
  for (const IndexSet& set : layout.index_sets(rank)) {
    const auto size = static_cast<std::size_t>(set.size());
    auto* values = new std::int64_t[size];
    nb::capsule owner(values, [](void* memory) noexcept { delete[] static_cast<std::int64_t*>(memory); });
    for (std::size_t i = 0; i < size; ++i) values[i] = set.at(static_cast<std::int64_t>(i));
    result.append(nb::ndarray<nb::numpy, std::int64_t>(values, {size}, owner));
  }
  return nb::tuple(result);
}

}  // namespace

void bind_layout(nb::module_& module) {
  nb::class_<Layout>(module, "Layout", R"doc(How an N-dimensional array is dealt to the ranks of a grid.

Layout(shape, dist, *, grid=None, ranks="C", order="C")

shape  sizes of the dimensions, 0 to 32 of them
dist   HPF's spelling, "(block, cyclic(3), *)", which may go on with "onto (2, 2) ranks=F order=F";
       or one text for each dimension: *, block, block(m), balanced, cyclic, cyclic(k) or gen_block(sizes)
grid   ranks in each dimension that is dealt (not *), left to right
ranks  "C": the last grid dimension's ranks follow each other; "F": the first one's
order  memory order of the local arrays, "C" or "F"

A value: layouts are equal when each rank holds the same elements in the same local order, however they were spelled.
Raises plait.ArgumentError where the parts do not fit together.)doc")
      .def(
          "__init__",
          [](Layout* self, const Extents& shape, const DistributionText& dist, const std::optional<Extents>& grid,
             const std::optional<std::string>& ranks, const std::optional<std::string>& order) {
            new (self) Layout(make_layout(shape, dist, grid, ranks, order));
          },
          "shape"_a, "dist"_a, nb::kw_only(), "grid"_a = nb::none(), "ranks"_a = nb::none(), "order"_a = nb::none())
      .def_static(
          "parse",
          [](const std::string& text, const std::optional<Extents>& shape) {
            return shape ? Layout::parse(text, *shape) : Layout::parse(text);
          },
          "text"_a, "shape"_a = nb::none(),
          "Reads the printed form, \"8x12 (block, cyclic(3)) onto (2, 2)\"; the shape may be given apart.")
      .def_prop_ro(
          "shape", [](const Layout& self) { return to_tuple(self.shape()); }, "Sizes of the array.")
      .def_prop_ro(
          "grid", [](const Layout& self) { return to_tuple(self.grid()); }, "Ranks in each dealt dimension.")
      .def_prop_ro(
          "dist",
          [](const Layout& self) {
            nb::list list;
            for (const Distribution& distribution : self.distributions()) list.append(to_string(distribution));
            return nb::tuple(list);
          },
          "The distribution of each dimension, as text.")
      .def_prop_ro(
          "ranks", [](const Layout& self) { return order_name(self.ranks()); }, "Order of the ranks in the grid.")
      .def_prop_ro(
          "order", [](const Layout& self) { return order_name(self.order()); }, "Order of local arrays.")
      .def_prop_ro("ndim", &Layout::dimensions, "Number of dimensions.")
      .def_prop_ro("size", &Layout::size, "Number of ranks.")
      .def_prop_ro("elements", &Layout::elements, "Number of elements of the whole array.")
      .def(
          "local_shape", [](const Layout& self, std::int64_t rank) { return to_tuple(self.local_shape(rank)); },
          "rank"_a, "Shape of the local array of a rank.")
      .def(
          "coordinates", [](const Layout& self, std::int64_t rank) { return to_tuple(self.coordinates(rank)); },
          "rank"_a, "Grid coordinate of a rank for each array dimension, 0 where the dimension is not dealt.")
      .def("indices", &indices, "rank"_a,
           "The indices that a rank owns: one ascending int64 array for each dimension, in local order.")
      .def(
          "owners", [](const Layout& self, const Extents& index) { return nb::make_tuple(self.owner(index)); },
          "index"_a, "The ranks that own an element.")
      .def(
          "to_local",
          [](const Layout& self, const Extents& index, std::int64_t rank) {
            return to_tuple(self.to_local(index, rank));
          },
          "index"_a, "rank"_a, "Place of an element in the local array of the rank that owns it.")
      .def(
          "to_global",
          [](const Layout& self, const Extents& local, std::int64_t rank) {
            return to_tuple(self.to_global(local, rank));
          },
          "local"_a, "rank"_a, "The element at a place of the local array of a rank.")
      .def("__str__", [](const Layout& self) { return to_string(self); })
      .def("__repr__", [](const Layout& self) { return "Layout.parse(\"" + to_string(self) + "\")"; })
      .def(nb::self == nb::self)
      .def("__hash__", [](const Layout& self) { return std::hash<std::string>()(to_string(self)); })
      .def("__getstate__", [](const Layout& self) { return to_string(self); })
      .def("__setstate__", [](Layout& self, const std::string& text) { new (&self) Layout(Layout::parse(text)); });

  nb::class_<Message>(module, "Message", "What one rank sends to, or receives from, another one.")
      .def_ro("rank", &Message::rank, "The other rank.")
      .def_ro("elements", &Message::elements, "How many elements.")
      .def_ro("runs", &Message::runs, "In how many stretches that are contiguous in both local arrays.")
      .def(nb::self == nb::self)
      .def("__repr__", [](const Message& self) {
        return "Message(rank=" + std::to_string(self.rank) + ", elements=" + std::to_string(self.elements) +
               ", runs=" + std::to_string(self.runs) + ")";
      });

  nb::class_<Conversion>(module, "Conversion", "The composition of two layouts: who sends what to whom.")
      .def_prop_ro("source", &Conversion::source)
      .def_prop_ro("target", &Conversion::target)
      .def("sends", &Conversion::sends, "rank"_a,
           "The messages that a rank of the source sends, by ascending receiver.")
      .def("receives", &Conversion::receives, "rank"_a,
           "The messages that a rank of the target receives, by ascending sender.")
      .def_prop_ro("block", &Conversion::block,
                   "The longest run, in elements, that holds everywhere: no message has a shorter one.")
      .def("explain", &Conversion::explain, "A few lines for people.")
      .def("__repr__", [](const Conversion& self) {
        return "compose(" + to_string(self.source()) + " -> " + to_string(self.target()) + ")";
      });

  module.def("compose", &compose, "source"_a, "target"_a,
             "The conversion of arrays that lie as `source` says into arrays that lie as `target` says.\n\n"
             "Held symbolically: cost and size do not depend on the number of elements.\n"
             "Raises plait.ArgumentError where the shapes differ.");
}

}  // namespace plait::python
