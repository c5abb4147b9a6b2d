// HDF5's library as Python's packages have it, which they and Plait use in turn: not public.

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "bind.hpp"
#include "container/hdf5/surroundings.hpp"
#include "string.hpp"

namespace nb = nanobind;

namespace plait::python {

namespace {

/// The locks that this thread holds, for each use of the library one, or None.
std::vector<nb::object>& held() {
  static thread_local std::vector<nb::object> held;
  return held;
}

nb::object call(const char* name) { return nb::module_::import_("plait._base.libraries.hdf5").attr(name)(); }

}  // namespace

void bind_hdf5(nb::module_& /*module*/) {
  container::hdf5::set_surroundings({
      .library =
          [] {
            const nb::gil_scoped_acquire locked;
            return nb::cast<std::string>(call("library"));
          },
      .enter =
          [] {
            const nb::gil_scoped_acquire locked;
            held().push_back(call("acquired"));
          },
      .leave =
          [] {
            const nb::gil_scoped_acquire locked;
            const nb::object lock = held().back();
            held().pop_back();
            if (!lock.is_none()) lock.attr("release")();
          },
  });
}

}  // namespace plait::python
