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
  nb::class_<Message>(module, "Message", "What one rank sends to, or receives from, another rank (or itself).")
      .def_ro("rank", &Message::rank, "The other rank.")
      .def_ro("elements", &Message::elements, "The number of elements.")
      .def_ro("runs", &Message::runs, "The number of runs: stretches that are contiguous in both local arrays.")
      .def(nb::self == nb::self, nb::sig(kEqual))
      .def("__repr__", [](const Message& self) {
        return "Message(rank=" + std::to_string(self.rank) + ", elements=" + std::to_string(self.elements) +
               ", runs=" + std::to_string(self.runs) + ")";
      });

  auto kind =
      nb::class_<Conversion>(module, "Conversion", "The composition of two layouts: who sends what to whom.")
          .def_prop_ro("source", &Conversion::source)
          .def_prop_ro("target", &Conversion::target)
          .def_prop_ro("fills_halo", &Conversion::fills_halo, "Whether the halo of the target is filled as well.")
          .def("inverse", &Conversion::inverse, "The conversion back.")
          .def(
              "then",
              [](const Conversion& self, const Argument<Conversion>& following) {
                return self.then(
                    following.as("following", "is not a plait.Conversion; give what plait.compose() returns"));
              },
              "following"_a, "This conversion followed by another one, as one conversion.")
          .def(
              "sends",
              [](const Conversion& self, const Argument<std::int64_t>& rank) {
                return self.sends(rank.as("rank", "is not a rank; give a whole number, such as 0"));
              },
              "rank"_a, "The messages that a rank of the source sends, by ascending receiver.")
          .def(
              "receives",
              [](const Conversion& self, const Argument<std::int64_t>& rank) {
                return self.receives(rank.as("rank", "is not a rank; give a whole number, such as 0"));
              },
              "rank"_a, "The messages that a rank of the target receives, by ascending sender.")
          .def_prop_ro("block", &Conversion::block,
                       "The block size: the length in elements that every run has at least.")
          .def("explain", &Conversion::explain,
               "A description in a few lines: both layouts, the block size and the messages.")
          .def("__repr__", [](const Conversion& self) {
            return "compose(" + to_string(self.source()) + " -> " + to_string(self.target()) + ")";
          });

  def_init_else<Conversion>(kind, "plait.compose(source, target)");
  def_else(kind, "then", "then(following)");
  def_else(kind, "sends", "sends(rank)");
  def_else(kind, "receives", "receives(rank)");

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
      "The conversion of arrays with the layout `source` into arrays with the layout `target`.\n\n"
      "It is stored symbolically: cost and size do not depend on the number of elements.  If the source has\n"
      "copies, a rank that holds one takes all its elements from that replica, and any other rank r from replica\n"
      "r modulo the number of replicas.  With `fill_halo` the halo of the target is filled as well.\n"
      "The layouts may be texts.  Raises plait.ArgumentError if the shapes differ.");
  module.def("compose", [](const nb::args& found, const nb::kwargs& named) -> nb::object {
    throw_call_error("compose(source, target, *, fill_halo=False)", found, named);
  });
}

}  // namespace plait::python
