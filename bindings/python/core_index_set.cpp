// plait.IndexSet for Python.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/operators.h>

#include <string>

#include "arguments_as.hpp"
#include "base/errors.hpp"
#include "bind.hpp"
#include "plait/index_set.hpp"
#include "string.hpp"
#include "typed.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace plait::python {

namespace {

auto to_array(const IndexSet& set) {
  const auto size = static_cast<std::size_t>(set.size());
  auto* values = new std::int64_t[size];
  // The capsule owns the memory, and frees it together with the array.
  nb::capsule owner(values, [](void* memory) noexcept { delete[] static_cast<std::int64_t*>(memory); });
  for (std::size_t i = 0; i < size; ++i) values[i] = set.at(static_cast<std::int64_t>(i));
  return nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>(values, {size}, owner);
}

}  // namespace

void bind_index_set(nb::module_& module) {
  auto kind = nb::class_<IndexSet>(module, "IndexSet",
                                   R"doc(A set of indices of one dimension, stored as runs that repeat, never as a list.

a & b is the intersection of two sets; len(), `in` and == work as for Python's sets.)doc")
                  .def_static(
                      "range",
                      [](const Argument<std::int64_t>& first, const Argument<std::int64_t>& last) {
                        const std::int64_t begin = first.as("begin", kNumber);
                        const std::int64_t end = last.as("end", kNumber);
                        if (begin < 0 || end < begin)
                          base::throw_argument_error("a range needs 0 <= begin <= end, found " + std::to_string(begin) +
                                                     " and " + std::to_string(end));
                        return IndexSet::range(begin, end);
                      },
                      "begin"_a, "end"_a, "Return the set of the indices begin, begin+1, ..., end-1.")
                  .def_prop_ro("runs", &IndexSet::runs, "Number of stretches of consecutive indices.")
                  .def_prop_ro("longest_run", &IndexSet::longest_run, "Length of the longest run.")
                  .def_prop_ro("size", &IndexSet::size, "Number of indices.")
                  .def("indices", &to_array, "Return all indices, ascending, as an int64 array.")
                  .def(
                      "complement",
                      [](const IndexSet& self, const Argument<std::int64_t>& argument) {
                        const std::int64_t extent = argument.as("extent", kNumber);
                        if (extent < 0)
                          base::throw_argument_error("the extent " + std::to_string(extent) +
                                                     " is negative; give the size of the dimension");
                        return complement(self, extent);
                      },
                      "extent"_a, "Return the set of the indices of [0, extent) that are not in this set.")
                  .def("__and__", &intersection, "other"_a, nb::is_operator())
                  .def("__len__", &IndexSet::size)
                  .def(
                      "__contains__",
                      [](const IndexSet& self, const Argument<std::int64_t>& index) {
                        return index.value && self.contains(*index.value);
                      },
                      nb::sig("def __contains__(self, index: object, /) -> bool"), "index"_a)
                  .def(
                      "__eq__", [](const IndexSet& a, const IndexSet& b) { return a.same_members(b); },
                      nb::is_operator(), nb::sig(kEqual))
                  .def("__repr__", [](const IndexSet& self) {
                    return "<IndexSet of " + std::to_string(self.size()) + " indices in " +
                           std::to_string(self.runs()) + " runs>";
                  });
  def_init_fallback<IndexSet>(kind, "IndexSet.range(begin, end), or Layout.index_set(rank, dimension)");
  def_static_fallback(kind, "range", "IndexSet.range(begin, end)");
  def_fallback(kind, "complement", "complement(extent)");
  kind.attr("__hash__") = nb::none();  // equal sets may have different representations
}

}  // namespace plait::python
