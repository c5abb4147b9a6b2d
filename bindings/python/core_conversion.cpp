// plait.compose() and its results, Conversion and Message, for Python.

#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "arguments_as.hpp"
#include "bind.hpp"
#include "plait/conversion.hpp"
#include "string.hpp"
#include "typed.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace plait::python {

void bind_conversion(nb::module_& module) {
  nb::class_<Message>(module, "Message", "The elements that a rank sends to, or receives from, a rank.")
      .def_ro("rank", &Message::rank, "The other rank.")
      .def_ro("elements", &Message::elements, "The number of elements.")
      .def_ro("runs", &Message::runs, "The number of runs: stretches that are contiguous in both local arrays.")
      .def(nb::self == nb::self, nb::sig(kEqual))
      .def("__repr__", [](const Message& self) {
        return "Message(rank=" + std::to_string(self.rank) + ", elements=" + std::to_string(self.elements) +
               ", runs=" + std::to_string(self.runs) + ")";
      });

  auto kind =
      nb::class_<Conversion>(module, "Conversion", "The composition of two layouts: the messages between ranks.")
          .def_prop_ro("source", &Conversion::source)
          .def_prop_ro("target", &Conversion::target)
          .def_prop_ro("fills_halo", &Conversion::fills_halo, "True if the halo of the target is filled as well.")
          .def("inverse", &Conversion::inverse, "Return the conversion from the target to the source.")
          .def(
              "then",
              [](const Conversion& self, const Argument<Conversion>& following) {
                return self.then(
                    following.as("following", "is not a plait.Conversion; give what plait.compose() returns"));
              },
              "following"_a, "Return this conversion followed by another one, as one conversion.")
          .def(
              "sends",
              [](const Conversion& self, const Argument<std::int64_t>& rank) {
                return self.sends(rank.as("rank", "is not a rank; give a whole number, such as 0"));
              },
              "rank"_a, "Return the messages that a rank of the source sends, by ascending receiver.")
          .def(
              "receives",
              [](const Conversion& self, const Argument<std::int64_t>& rank) {
                return self.receives(rank.as("rank", "is not a rank; give a whole number, such as 0"));
              },
              "rank"_a, "Return the messages that a rank of the target receives, by ascending sender.")
          .def_prop_ro("block", &Conversion::block, "The block size: the minimum length of all runs, in elements.")
          .def("explain", &Conversion::explain,
               "Describe the conversion in a few lines: both layouts, the block size and the messages.")
          .def("__repr__", [](const Conversion& self) {
            return "compose(" + to_string(self.source()) + " -> " + to_string(self.target()) + ")";
          });

  def_init_fallback<Conversion>(kind, "plait.compose(source, target)");
  def_fallback(kind, "then", "then(following)");
  def_fallback(kind, "sends", "sends(rank)");
  def_fallback(kind, "receives", "receives(rank)");

  module.def(
      "compose",
      [](const nb::object& source, const nb::object& target, const Argument<bool>& fill_halo) {
        const nb::object layouts = nb::module_::import_("plait._arguments.layouts");
        const nb::object pair =
            layouts.attr("layout_pair")(source, target, "names"_a = nb::make_tuple("source", "target"));
        return compose(nb::cast<const Layout&>(pair[0]), nb::cast<const Layout&>(pair[1]),
                       fill_halo.as("fill_halo", "is not a truth value; use True or False"));
      },
      nb::sig("def compose(source: Layout | str, target: Layout | str, *, fill_halo: bool = False) -> Conversion"),
      "source"_a.none(), "target"_a.none(), nb::kw_only(), "fill_halo"_a = false,
      "Return the conversion of arrays with the layout `source` into arrays with the layout `target`.\n\n"
      "It is stored symbolically: cost and size do not depend on the number of elements.  If the source has\n"
      "replicas, a rank of one of them takes all its elements from that replica, and any other rank r from replica\n"
      "r modulo the number of replicas.  With `fill_halo` the halo of the target is filled as well.\n"
      "The layouts may be texts.  Raises plait.ArgumentError if the shapes differ.");
  module.def("compose", [](const nb::args& positional, const nb::kwargs& named) -> nb::object {
    throw_call_error("compose(source, target, *, fill_halo=False)", positional, named);
  });
}

}  // namespace plait::python
