// The extension module plait._core: layouts, conversions, files, streams, distant files and redistribution, without
// MPI.

#include <nanobind/stl/vector.h>
#include <nanobind/typing.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/signals/signal_pipe.hpp"
#include "base/wait/blocking_wait.hpp"
#include "base/wait/interruption.hpp"
#include "bind.hpp"
#include "gil_release.hpp"
#include "plait/comm.hpp"
#include "plait/error.hpp"
#include "store/objects/web/web_url.hpp"
#include "string.hpp"
#include "transport/local/rendezvous.hpp"
#include "transport/shared_memory/process_exit.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using ByteTexts = nb::typed<nb::list, nb::bytes>;

/// Runs the signal handlers of Python. An exception that they raise stays pending, and is raised after the wait has
/// ended. Handlers run on the main thread only. Other threads must not request the lock of Python: its holder may be
/// waiting for them, or the interpreter may have ended.
bool interrupted() {
  if (::syscall(SYS_gettid) != ::getpid() || Py_IsInitialized() == 0) return false;
  const nb::gil_scoped_acquire locked;
  return PyErr_Occurred() != nullptr || PyErr_CheckSignals() != 0;
}

/// Translates an error to plait.ArgumentError or plait.StoreError.
void translate(const std::exception_ptr& error, void*) {
  try {
    std::rethrow_exception(error);
  } catch (const plait::Error& failure) {
    if (PyErr_Occurred() != nullptr) return;  // the exception that has ended a wait, such as KeyboardInterrupt
    const nb::object errors = nb::module_::import_("plait._base.errors");
    const nb::object text = plait::python::to_str(plait::store::web::without_secrets(failure.what()));
    const nb::object value = failure.kind() == plait::ErrorKind::kArgument
                                 ? errors.attr("ArgumentError")(text)
                                 : errors.attr("store_error")(text, failure.system_code());
    PyErr_SetObject(value.type().ptr(), value.ptr());
  }
}

}  // namespace

NB_MODULE(_core, module) {
  module.doc() = "Compiled core of Plait; use the package plait.";
  nb::register_exception_translator(translate);
  plait::base::set_interruption_check(interrupted);
  // A program that is ended by a signal does not free its objects; a warning about that would not help its user.
  nb::set_leak_warnings(false);
  // Release the lock while destructors wait, because the thread that they wait for may request it.
  plait::base::set_blocking_hooks(
      {[]() -> void* { return Py_IsInitialized() != 0 && PyGILState_Check() != 0 ? PyEval_SaveThread() : nullptr; },
       [](void* state) { plait::python::GilRelease::restore(static_cast<PyThreadState*>(state)); }});
  nb::class_<plait::Comm>(module, "Comm", "The processes that take part in collective calls.")
      .def(nb::init<>(), "One process alone.")
      .def_prop_ro("rank", &plait::Comm::rank)
      .def_prop_ro("size", &plait::Comm::size)
      .def_static(
          "world",
          [](double seconds) {
            const plait::python::GilRelease release;
            return plait::Comm::world(seconds);
          },
          "seconds"_a, "The processes of this job.")
      .def("barrier",
           [](const plait::Comm& comm) {
             const plait::python::GilRelease release;
             comm.barrier();
           })
      .def(
          "allgather",
          [](const plait::Comm& comm, const nb::bytes& mine) {
            const std::string text(mine.c_str(), mine.size());
            std::vector<std::string> all;
            {
              const plait::python::GilRelease release;
              all = comm.allgather(text);
            }
            nb::list result;
            for (const std::string& contribution : all)
              result.append(nb::bytes(contribution.data(), contribution.size()));
            return ByteTexts(result);
          },
          "mine"_a);
  module.def(
      "set_leaving", [](const std::string& why) { plait::transport::shared_memory::set_leaving(why); }, "why"_a,
      "Set the reason that the other ranks report when this one ends.");
  module.def("remove_job_leftovers", plait::transport::local::remove_leftovers,
             "Remove the files of jobs that ended before all of their ranks had connected.");
  module.def(
      "watch_signals", [](const std::vector<int>& numbers) { return plait::base::watch_signals(numbers); }, "numbers"_a,
      "Write each signal to a pipe, as two 32-bit integers, number and si_code, and return the pipe's descriptor.");
  module.def("leave_signals", plait::base::leave_signals, "Restore the former handling of signals.");
  module.def("without_secrets", plait::store::web::without_secrets, "text"_a,
             "Return a text without the queries, users and passwords of its URLs.");
  plait::python::bind_index_set(module);
  plait::python::bind_layout(module);
  plait::python::bind_conversion(module);
  plait::python::bind_bits(module);
  plait::python::bind_description(module);
  plait::python::bind_file(module);
  plait::python::bind_plain_index(module);
  plait::python::bind_redistribute(module);
  plait::python::bind_texts(module);
  plait::python::bind_stream(module);
  plait::python::bind_pipe(module);
  plait::python::bind_location(module);
  plait::python::bind_hdf5(module);
  plait::python::bind_costs(module);
  plait::python::bind_distant(module);
  plait::python::bind_shared(module);
}
