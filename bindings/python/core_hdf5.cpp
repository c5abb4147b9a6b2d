// Hooks by which Plait and Python's packages share one HDF5 library.
//
// h5py and netCDF4 bring an HDF5 library that is not thread-safe, and protect it with a lock of their own. Plait loads
// the same library, and acquires that lock around each use. The interpreter's lock is held only while the other lock is
// acquired or released, not while the library runs.

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bind.hpp"
#include "container/hdf5/growth/growth_group.hpp"
#include "container/hdf5/library_hooks.hpp"
#include "string.hpp"

namespace nb = nanobind;
using namespace nb::literals;  // NOLINT: for "name"_a

namespace plait::python {

namespace {

/// Returns the locks that this thread holds, one for each nested use of the library, or None for a use without a lock.
std::vector<nb::object>& held_locks() {
  static thread_local std::vector<nb::object> locks;
  return locks;
}

/// The arrays of a file that get their new shapes when the last one is closed.
struct DeferredGrowth {
  std::shared_ptr<container::hdf5::GrowthGroup> group;
};

nb::object call(const char* name) { return nb::module_::import_("plait._base.libraries.hdf5").attr(name)(); }

}  // namespace

void bind_hdf5(nb::module_& module) {
  nb::class_<DeferredGrowth>(module, "GrowthGroup")
      .def(
          "__init__",
          [](DeferredGrowth* self, const std::string& path, std::int64_t arrays) {
            new (self) DeferredGrowth{container::hdf5::GrowthGroup::make(path, arrays)};
          },
          "path"_a, "arrays"_a)
      .def("end", [](DeferredGrowth& growth) { growth.group.reset(); });
  container::hdf5::set_library_hooks({
      .library =
          [] {
            const nb::gil_scoped_acquire locked;
            return nb::cast<std::string>(call("find_library"));
          },
      .plugins =
          [] {
            const nb::gil_scoped_acquire locked;
            return nb::cast<std::string>(call("find_plugins"));
          },
      .enter =
          [] {
            const nb::gil_scoped_acquire locked;
            held_locks().push_back(call("acquire_h5py_lock"));
          },
      .leave =
          [] {
            const nb::gil_scoped_acquire locked;
            const nb::object lock = held_locks().back();
            held_locks().pop_back();
            if (!lock.is_none()) lock.attr("release")();
          },
  });
}

}  // namespace plait::python
