// The extension module plait._mpi: MPI communicators as Comm.

#include <mpi.h>
#include <nanobind/nanobind.h>

#include "core/mpi/mpi_comms.hpp"
#include "gil_release.hpp"
#include "plait/mpi.hpp"
#include "string.hpp"
#include "transport/mpi/handles.hpp"
#include "transport/shared_memory/process_exit.hpp"

namespace nb = nanobind;
using namespace nb::literals;

NB_MODULE(_mpi, module) {
  module.doc() = "The MPI transport of Plait; use the comm argument of plait.open and plait.redistribute.";
  nb::module_::import_("plait._core");
  // mpi4py passes communicators as Fortran handles, so that this module does not depend on the build of mpi4py.
  module.def(
      "make_comm",
      [](int handle) {
        const plait::python::GilRelease release;
        return plait::make_comm(plait::transport::mpi::comm_from_fortran(handle));
      },
      "handle"_a);
  module.def(
      "leave",
      [](const std::string& why) {
        const plait::python::GilRelease release;
        int ended = 0;
        if (MPI_Finalized(&ended) != MPI_SUCCESS || ended != 0) return;
        plait::transport::shared_memory::set_leaving(why);
        plait::core::release_comms();
      },
      "why"_a);
  module.def("library_version", [] {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    return nb::str(text, static_cast<std::size_t>(length));
  });
}
