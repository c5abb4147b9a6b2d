#include "arguments_as.hpp"

#include "bind.hpp"
#include "string.hpp"

namespace nb = nanobind;

namespace plait::python {

std::string shown(nb::handle value) {
  return nb::cast<std::string>(nb::module_::import_("plait._arguments.words").attr("shown")(value));
}

void throw_type_error(const std::string& text) {
  const nb::object error = nb::module_::import_("plait._base.errors").attr("ArgumentTypeError")(text);
  PyErr_SetObject(error.type().ptr(), error.ptr());
  nb::raise_python_error();
}

void throw_call_error(const char* call, const nb::args& found, const nb::kwargs& named) {
  std::string text = "found " + std::to_string(found.size()) + (found.size() == 1 ? " argument" : " arguments");
  for (const auto& [name, value] : named)
    text += (text.back() == '=' ? ", " : " and ") + nb::cast<std::string>(name) + '=';
  throw_type_error(text + "; call " + call);
}

}  // namespace plait::python
