// plait.Layout for Python.

#include <nanobind/ndarray.h>
#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "arguments_as.hpp"
#include "base/errors.hpp"
#include "bind.hpp"
#include "core_layout_arguments.hpp"
#include "layout/section.hpp"
#include "plait/layout.hpp"
#include "string.hpp"
#include "typed.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace plait::python {

namespace {

constexpr const char* kShape = "is not a shape; give whole numbers, such as (8, 12)";
constexpr const char* kDistribution =
    "is not a distribution; give a text such as \"(block, *)\", or one text for each dimension";
constexpr const char* kDimensions = "is not a list of dimensions; give whole numbers, such as (0,)";
constexpr const char* kIndex = "is not an index; give a whole number for each dimension, such as (0, 0)";

std::int64_t to_rank(const Argument<std::int64_t>& rank) {
  return rank.as("rank", "is not a rank; give a whole number, such as 0");
}

Order to_order(const Argument<std::string>& order) {
  return parse_order(order.as("order", "is not an order; give \"C\" or \"F\""), "order", false);
}

/// Returns "C" or "F" if the dimensions have that order, otherwise their numbers.
nb::object get_order(const Layout& layout) {
  const std::vector<int>& order = layout.order();
  if (std::is_sorted(order.begin(), order.end())) return nb::str("C");
  if (std::is_sorted(order.rbegin(), order.rend())) return nb::str("F");
  return to_tuple(order);
}

nb::object get_ranks(const Layout& layout) {
  if (!layout.options().rank_list.empty()) return to_tuple(layout.options().rank_list);
  return nb::str(layout.ranks() == Order::kC ? "C" : "F");
}

nb::tuple get_halos(const Layout& layout) {
  nb::list list;
  for (int d = 0; d < layout.dimensions(); ++d) list.append(nb::make_tuple(layout.halo(d).lo, layout.halo(d).hi));
  return nb::tuple(list);
}

nb::tuple get_periodic(const Layout& layout) {
  nb::list list;
  for (int d = 0; d < layout.dimensions(); ++d) list.append(layout.periodic(d));
  return nb::tuple(list);
}

auto to_array(std::vector<std::int64_t> numbers) {
  auto* values = new std::vector<std::int64_t>(std::move(numbers));
  nb::capsule owner(values, [](void* memory) noexcept { delete static_cast<std::vector<std::int64_t>*>(memory); });
  return nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>(values->data(), {values->size()}, owner);
}

nb::tuple indices(const Layout& layout, const Argument<std::int64_t>& rank) {
  nb::list result;
  for (const IndexSet& set : layout.index_sets(to_rank(rank))) {
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
  auto layout =
      nb::class_<Layout>(module, "Layout", R"doc(How an N-dimensional array is distributed over the ranks of a grid.

Layout(shape, dist, *, grid=None, ranks="C", order="C", replicate=None, source=None, offset=None, reverse=None,
       halo=None, periodic=None, template=None, align=None)

shape      sizes of the dimensions, 0 to 32 of them; one number for one dimension
dist       the distribution of each dimension as one text in HPF's spelling, "(block, cyclic(3), *)", which may also
           contain the following arguments, as in "(block, *) onto (2) order=F"; or one text for each dimension:
           * (also : or None), block, block(m), balanced, cyclic, cyclic(k), gen_block(sizes) or indirect(owners). Each
           may name its grid axes, "block@(0, 1)", or be distributed further, "block/cyclic(2)"
grid       extents of the grid axes, one number for one axis; the dimensions that are distributed (not *) take them
           left to right
ranks      "C": consecutive ranks lie along the last grid axis; "F": along the first; or the rank of each position
order      memory order of the local arrays: "C", "F", or the dimensions, slowest first
replicate  grid axes along which each position holds a copy
source     for each dimension the coordinate that owns the first block
offset     for each dimension the position in its template where the array begins, so that the first block is shorter
reverse    dimensions whose blocks go to descending coordinates
halo       for each dimension the width of the halo around the owned part: one number, or (before, after)
periodic   dimensions whose halo wraps around
template, align  HPF's ALIGN: the shape that is distributed instead of the array's, and for each of its dimensions what
           lies there: "2*d1+1" (index i of dimension 1 at 2*i+1), a number (the array, only there) or "*" (copies)

Layouts are values: they are equal if each rank holds the same elements in the same local order, however they were
spelled. Raises plait.ArgumentError if the arguments do not fit together.)doc")
          .def(
              "__init__",
              [](Layout* self, const Argument<NumberOrNumbers>& shape, const Argument<DistributionText>& dist,
                 const OptionalArgument<NumberOrNumbers>& grid, const OptionalArgument<NumbersOrName>& ranks,
                 const OptionalArgument<NumbersOrName>& order, const OptionalArgument<std::vector<int>>& replicate,
                 const OptionalArgument<Extents>& source, const OptionalArgument<Extents>& offset,
                 const OptionalArgument<std::vector<int>>& reverse,
                 const OptionalArgument<std::vector<HaloWidth>>& halo,
                 const OptionalArgument<std::vector<int>>& periodic, const OptionalArgument<Extents>& template_shape,
                 const OptionalArgument<AlignmentText>& align) {
                const Keywords keywords{
                    as(grid, "grid", "is not a grid; give the extent of each grid axis, such as (2, 2)"),
                    as(ranks, "ranks", "is not an order of ranks; give \"C\", \"F\" or the rank of each grid position"),
                    as(order, "order",
                       "is not an order; give \"C\", \"F\" or the dimensions, slowest first, such as (1, 0)"),
                    as(replicate, "replicate", "is not a list of grid axes; give whole numbers, such as (1,)"),
                    as(source, "source", "is not a list of coordinates; give one for each dimension, such as (0, 1)"),
                    as(offset, "offset", "is not a list of positions; give one for each dimension, such as (0, 3)"),
                    as(reverse, "reverse", kDimensions),
                    as(halo, "halo",
                       "is not a halo; give for each dimension a width or (before, after), such as (1, (0, 2))"),
                    as(periodic, "periodic", kDimensions),
                    as(template_shape, "template", kShape),
                    as(align, "align",
                       "is not an alignment; give for each template dimension a text such as \"2*d1+1\", a number or "
                       "\"*\""),
                };
                new (self) Layout(
                    make_layout(to_extents(shape.as("shape", kShape)), dist.as("dist", kDistribution), keywords));
              },
              "shape"_a, "dist"_a, nb::kw_only(), "grid"_a = nb::none(), "ranks"_a = nb::none(), "order"_a = nb::none(),
              "replicate"_a = nb::none(), "source"_a = nb::none(), "offset"_a = nb::none(), "reverse"_a = nb::none(),
              "halo"_a = nb::none(), "periodic"_a = nb::none(), "template"_a = nb::none(), "align"_a = nb::none())
          .def_static(
              "parse",
              [](const Argument<std::string>& text_argument, const OptionalArgument<Extents>& shape) {
                const std::string& text =
                    text_argument.as("text", "is not a text; give one such as \"8x12 (block, *) onto (4)\"");
                return shape ? Layout::parse(text, shape->as("shape", kShape)) : Layout::parse(text);
              },
              "text"_a, "shape"_a = nb::none(),
              "Parse the printed form, \"8x12 (block, cyclic(3)) onto (2, 2)\"; `shape` may give the shape instead.")
          .def_prop_ro(
              "shape", [](const Layout& self) { return to_tuple(self.shape()); }, "Sizes of the array.")
          .def_prop_ro(
              "grid", [](const Layout& self) { return to_tuple(self.grid()); }, "Extents of the grid axes.")
          .def_prop_ro(
              "dist",
              [](const Layout& self) {
                nb::list list;
                for (const Distribution& distribution : self.distributions()) list.append(to_string(distribution));
                return TextTuple(nb::tuple(list));
              },
              "The distribution of each dimension (of the template, if there is one), as text.")
          .def_prop_ro("ranks", &get_ranks, nb::sig("def ranks(self) -> str | tuple[int, ...]"),
                       "Order of the ranks on the grid: \"C\", \"F\", or the rank of each position.")
          .def_prop_ro("order", &get_order, nb::sig("def order(self) -> str | tuple[int, ...]"),
                       "Order of local arrays: \"C\", \"F\", or the dimensions, slowest first.")
          .def_prop_ro(
              "dimension_order", [](const Layout& self) { return to_tuple(self.order()); },
              "The dimensions of local arrays, slowest first.")
          .def_prop_ro(
              "replicate", [](const Layout& self) { return to_tuple(self.options().replicate); },
              "Grid axes along which each position holds a copy, as they were given.")
          .def_prop_ro("halo", &get_halos, nb::sig("def halo(self) -> tuple[tuple[int, int], ...]"),
                       "Width of the halo before and after the owned part, for each dimension.")
          .def_prop_ro("periodic", &get_periodic, nb::sig("def periodic(self) -> tuple[bool, ...]"),
                       "True for each dimension whose halo wraps around.")
          .def_prop_ro("ndim", &Layout::dimensions, "Number of dimensions.")
          .def_prop_ro("size", &Layout::size, "Number of ranks.")
          .def_prop_ro("elements", &Layout::elements, "Number of elements of the whole array.")
          .def_prop_ro("replicas", &Layout::replicas, "Number of ranks that hold each element.")
          .def_prop_ro(
              "rank_numbers", [](const Layout& self) { return to_array(self.rank_numbers()); },
              nb::rv_policy::automatic, "All ranks, ascending.")
          .def_prop_ro("ranks_end", &Layout::ranks_end, "One more than the largest rank.")
          .def_prop_ro(
              "spelling", [](const Layout& self) { return spelling(self); },
              "The text as the layout was given; str() gives the normal form.")
          .def(
              "has_rank",
              [](const Layout& self, const Argument<std::int64_t>& rank) { return self.has_rank(to_rank(rank)); },
              "rank"_a, "Return True if the layout has a rank of this number.")
          .def("normal_form", &Layout::normal_form, "Return the normal form, which is the same for equal layouts.")
          .def(
              "replica",
              [](const Layout& self, const Argument<std::int64_t>& rank) {
                self.coordinates(to_rank(rank));  // throws if the layout does not have the rank
                return self.replica(to_rank(rank));
              },
              "rank"_a, "Return the number of the copy that a rank holds, from 0.")
          .def(
              "local_shape",
              [](const Layout& self, const Argument<std::int64_t>& rank) {
                return to_tuple(self.local_shape(to_rank(rank)));
              },
              "rank"_a, "Return the shape of the owned part of the local array of a rank.")
          .def(
              "padded_shape",
              [](const Layout& self, const Argument<std::int64_t>& rank) {
                return to_tuple(self.padded_shape(to_rank(rank)));
              },
              "rank"_a, "Return the shape of the local array of a rank with its halo, as functions expect it.")
          .def(
              "runs",
              [](const Layout& self, const Argument<std::int64_t>& rank, const Argument<std::string>& order) {
                return self.runs(to_rank(rank), to_order(order));
              },
              "rank"_a, "order"_a = "C", "Return how many stretches of the array, in C or Fortran order, a rank owns.")
          .def(
              "largest_run",
              [](const Layout& self, const Argument<std::int64_t>& rank, const Argument<std::string>& order) {
                return self.largest_run(to_rank(rank), to_order(order));
              },
              "rank"_a, "order"_a = "C", "Return the number of elements of the longest stretch that a rank owns.")
          .def(
              "coordinates",
              [](const Layout& self, const Argument<std::int64_t>& rank) {
                return to_tuple(self.coordinates(to_rank(rank)));
              },
              "rank"_a, "Return the grid coordinate of a rank for each dimension, 0 if that is not distributed.")
          .def(
              "index_set",
              [](const Layout& self, const Argument<std::int64_t>& rank, const Argument<int>& argument) {
                const int dimension = argument.as("dimension", "is not a dimension; give a whole number, such as 0");
                if (dimension < 0 || dimension >= self.dimensions())
                  base::throw_argument_error("dimension " + std::to_string(dimension) + " was named, but " +
                                             to_string(self) + " has " + std::to_string(self.dimensions()) +
                                             " dimensions, counted from 0");
                return self.index_set(dimension, self.coordinates(to_rank(rank))[static_cast<std::size_t>(dimension)]);
              },
              "rank"_a, "dimension"_a, "Return the indices of a dimension that a rank owns, as an IndexSet.")
          .def("indices", &indices,
               nb::sig("def indices(self, rank: int) -> tuple[numpy.typing.NDArray[numpy.int64], ...]"), "rank"_a,
               "Return the indices that a rank owns: an ascending int64 array for each dimension, in local order.")
          .def(
              "owners",
              [](const Layout& self, const Argument<Extents>& index) {
                return to_tuple(self.owners(index.as("index", kIndex)));
              },
              "index"_a, "Return the ranks that own an element, ascending: one for each copy.")
          .def(
              "to_local",
              [](const Layout& self, const Argument<Extents>& index, const Argument<std::int64_t>& rank) {
                return to_tuple(self.to_local(index.as("index", kIndex), to_rank(rank)));
              },
              "index"_a, "rank"_a, "Return the position of an element in the local array of its owner.")
          .def(
              "to_global",
              [](const Layout& self, const Argument<Extents>& local, const Argument<std::int64_t>& rank) {
                return to_tuple(self.to_global(local.as("local", kIndex), to_rank(rank)));
              },
              "local"_a, "rank"_a, "Return the index of the element at a position of the local array of a rank.")
          .def("__str__", [](const Layout& self) { return to_string(self); })
          .def("__repr__", [](const Layout& self) { return "Layout.parse(\"" + to_string(self) + "\")"; })
          .def(nb::self == nb::self, nb::sig(kEqual))
          .def("__hash__", [](const Layout& self) { return std::hash<std::string>()(hashed_text(self)); })
          .def("__getstate__", [](const Layout& self) { return to_string(self); })
          .def("__setstate__", [](Layout& self, const std::string& text) { new (&self) Layout(Layout::parse(text)); });

  def_init_fallback<Layout>(layout,
                            "Layout(shape, dist, *, grid=None, ranks=None, order=None, replicate=None, source=None, "
                            "offset=None, reverse=None, halo=None, periodic=None, template=None, align=None)");
  def_static_fallback(layout, "parse", "Layout.parse(text, shape=None)");
  for (const char* call :
       {"has_rank(rank)", "replica(rank)", "local_shape(rank)", "padded_shape(rank)", "runs(rank, order=\"C\")",
        "largest_run(rank, order=\"C\")", "coordinates(rank)", "index_set(rank, dimension)", "indices(rank)",
        "owners(index)", "to_local(index, rank)", "to_global(local, rank)"})
    def_fallback(layout, std::string(call, std::strcspn(call, "(")).c_str(), call);

  module.def(
      "layout_section",
      [](const Layout& whole, const Extents& origin, const Extents& shape) {
        return layout::section(whole, origin, shape);
      },
      "whole"_a, "origin"_a, "shape"_a);
}

}  // namespace plait::python
