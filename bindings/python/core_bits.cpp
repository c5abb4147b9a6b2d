// plait.BitPermutation for Python, and Layout.bit_permutation().

#include <nanobind/nanobind.h>
#include <nanobind/operators.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>

#include "arguments_as.hpp"
#include "base/errors.hpp"
#include "bind.hpp"
#include "plait/bit_permutation.hpp"
#include "string.hpp"
#include "typed.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace plait::python {

namespace {

constexpr const char* kBits = "is not a list of bits; give whole numbers, such as (1, 0)";
constexpr const char* kPattern = "is not a pattern; give a text of 0, 1 and letters, such as \"10ab\"";

BitPermutation make_bit_permutation(const Layout& layout, const Argument<std::string>& order_argument) {
  const std::string& order = order_argument.as("order", "is not an order; give \"C\" or \"F\"");
  if (order != "C" && order != "F")
    base::throw_argument_error("order=\"" + order + "\" is not known; use \"C\" or \"F\"");
  return bit_permutation(layout, order == "C" ? Order::kC : Order::kFortran);
}

}  // namespace

void bind_bits(nb::module_& module) {
  auto kind =
      nb::class_<BitPermutation>(module, "BitPermutation",
                                 R"doc(A layout of powers of two, as a permutation of the bits of an element's number.

BitPermutation(unit, position, source_unit_bits=0); most often made by Layout.bit_permutation().

unit, position    for each bit of the target, most significant first, which bit of the source it is. The bits of the
                  source are counted from 0, the least significant one: first those of its position, then of its unit
source_unit_bits  how many bits of the source belong to its unit; 0 if the source is the file

DeBenedictis & del Rosario 1993, section 7. Raises plait.ArgumentError for more than 62 bits, and for bits that are not
a permutation.)doc")
          .def(
              "__init__",
              [](BitPermutation* self, const Argument<std::vector<int>>& unit,
                 const Argument<std::vector<int>>& position, const Argument<int>& source_unit_bits) {
                new (self) BitPermutation(unit.as("unit", kBits), position.as("position", kBits),
                                          source_unit_bits.as("source_unit_bits", kNumber));
              },
              "unit"_a, "position"_a, "source_unit_bits"_a = 0)
          .def_prop_ro(
              "unit", [](const BitPermutation& self) { return to_tuple(self.unit()); },
              "For each bit of the unit, most significant first, the number of the source bit.")
          .def_prop_ro(
              "position", [](const BitPermutation& self) { return to_tuple(self.position()); },
              "For each bit of the position, most significant first, the number of the source bit.")
          .def_prop_ro("source_unit_bits", &BitPermutation::source_unit_bits,
                       "Number of source bits that belong to the unit.")
          .def_prop_ro("source_position_bits", &BitPermutation::source_position_bits,
                       "Number of source bits that belong to the position.")
          .def_prop_ro("block", &BitPermutation::block,
                       "Number of elements that are adjacent in the source and stay adjacent in the target.")
          .def("inverse", &BitPermutation::inverse, "Return the permutation from the target to the source.")
          .def(
              "then",
              [](const BitPermutation& self, const Argument<BitPermutation>& other) {
                return self.then(other.as("other", "is not a plait.BitPermutation; give one"));
              },
              "other"_a, "Return both in sequence: D1.inverse().then(D2) leads from D1's units to D2's.")
          .def(
              "apply",
              [](const BitPermutation& self, const Argument<std::int64_t>& position,
                 const Argument<std::int64_t>& unit) {
                const UnitPosition to = self.apply({unit.as("unit", kNumber), position.as("position", kNumber)});
                return std::make_pair(to.unit, to.position);
              },
              "position"_a, "unit"_a = 0, "Return the unit and the position to which a position (of a unit) is mapped.")
          .def(
              "trace",
              [](const BitPermutation& self, const Argument<std::string>& unit, const Argument<std::string>& position) {
                const UnitPattern to = self.trace({unit.as("unit", kPattern), position.as("position", kPattern)});
                return std::make_pair(to.unit, to.position);
              },
              "unit"_a = "", "position"_a = "",
              "Return the images of patterns of 0, 1 and letters: trace(unit=\"10\", position=\"1xyz\").")
          .def("__str__", [](const BitPermutation& self) { return to_string(self); })
          .def("__repr__",
               [](const BitPermutation& self) {
                 return "BitPermutation(unit=" + nb::cast<std::string>(nb::repr(to_tuple(self.unit()))) +
                        ", position=" + nb::cast<std::string>(nb::repr(to_tuple(self.position()))) +
                        ", source_unit_bits=" + std::to_string(self.source_unit_bits()) + ")";
               })
          .def(nb::self == nb::self, nb::sig(kEqual))
          .def("__hash__",
               [](const BitPermutation& self) {
                 return nb::hash(
                     nb::make_tuple(to_tuple(self.unit()), to_tuple(self.position()), self.source_unit_bits()));
               })
          .def("__getstate__",
               [](const BitPermutation& self) {
                 return std::make_tuple(self.unit(), self.position(), self.source_unit_bits());
               })
          .def("__setstate__",
               [](BitPermutation& self, const std::tuple<std::vector<int>, std::vector<int>, int>& state) {
                 new (&self) BitPermutation(std::get<0>(state), std::get<1>(state), std::get<2>(state));
               });

  def_init_fallback<BitPermutation>(kind, "BitPermutation(unit, position, source_unit_bits=0)");
  def_fallback(kind, "then", "then(other)");
  def_fallback(kind, "apply", "apply(position, unit=0)");
  def_fallback(kind, "trace", "trace(unit=\"\", position=\"\")");

  const nb::object layout = module.attr("Layout");
  nb::setattr(layout, "bit_permutation",
              nb::cpp_function(&make_bit_permutation, nb::scope(layout), nb::name("bit_permutation"), nb::is_method(),
                               nb::arg("order") = "C",
                               "Return the permutation that maps the bits of an element's number (in C or Fortran "
                               "order of the whole array) to its rank and its position there.\n\n"
                               "Costs a query for each bit, whatever the size. Raises plait.ArgumentError, naming "
                               "the dimension and the size, if the layout is not a permutation of bits."));
}

}  // namespace plait::python
