#include <nanobind/nanobind.h>

#include "bind.hpp"
#include "module.hpp"
#include "simulation/cache/registry.hpp"

namespace nb = nanobind;

namespace plait::python {

void bind_counting(nb::module_& module) {
  module.def(
      "policies",
      [] {
        nb::list all;
        for (const simulation::PolicyKind* one : simulation::policies())
          all.append(nb::make_tuple(text_of(one->name), text_of(one->about), text_of(one->parameters),
                                    static_cast<int>(one->foresight)));
        return all;
      },
      nb::sig("def policies() -> list[tuple[str, str, str, int]]"));
}

}  // namespace plait::python
