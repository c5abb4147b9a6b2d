// The extension module plait._core: layouts, conversions, files, streams, distant files and redistribution, without
// MPI.

#include <cerrno>

#include "bind.hpp"
#include "interruption.hpp"
#include "plait/comm.hpp"
#include "plait/error.hpp"

namespace nb = nanobind;

namespace {

/// Throws plait.ArgumentError or plait.StoreError in Python.
void translate(const std::exception_ptr& error, void*) {
  try {
    std::rethrow_exception(error);
  } catch (const plait::Error& known) {
    if (known.system_code() == EINTR && plait::python::raise_interruption()) return;
    const nb::object errors = nb::module_::import_("plait._errors");
    const nb::object text = plait::python::text_of(known.what());
    const nb::object value = known.kind() == plait::ErrorKind::kArgument
                                 ? errors.attr("ArgumentError")(text)
                                 : errors.attr("store_error")(text, known.system_code());
    PyErr_SetObject(value.type().ptr(), value.ptr());
  }
}

}  // namespace

NB_MODULE(_core, module) {
  module.doc() = "Compiled core of Plait; use the package plait.";
  nb::register_exception_translator(translate);
  // A program that a signal ends leaves objects to the system; that is not for its user to read about.
  nb::set_leak_warnings(false);
  plait::python::heed_signals();
  nb::class_<plait::Comm>(module, "Comm", "The processes that take part in collective calls.")
      .def(nb::init<>(), "One process alone.")
      .def_prop_ro("rank", &plait::Comm::rank)
      .def_prop_ro("size", &plait::Comm::size);
  plait::python::bind_index_set(module);
  plait::python::bind_layout(module);
  plait::python::bind_conversion(module);
  plait::python::bind_bits(module);
  plait::python::bind_file(module);
  plait::python::bind_redistribute(module);
  plait::python::bind_stream(module);
  plait::python::bind_pipe(module);
  plait::python::bind_distant(module);
  plait::python::bind_shared(module);
}
