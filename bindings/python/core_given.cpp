#include "given.hpp"

#include <nanobind/stl/string.h>

#include "bind.hpp"

namespace nb = nanobind;

namespace plait::python {

std::string shown(nb::handle value) {
  return nb::cast<std::string>(nb::module_::import_("plait._words").attr("shown")(value));
}

void refuse_call(const char* call) {
  const nb::object error = nb::module_::import_("plait._errors").attr("CallError")(std::string("the call is ") + call);
  PyErr_SetObject(error.type().ptr(), error.ptr());
  nb::raise_python_error();
}

}  // namespace plait::python
