/// The parts of the extension module.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

namespace plait::python {

void bind_index_set(nanobind::module_& module);
void bind_layout(nanobind::module_& module);
void bind_conversion(nanobind::module_& module);
void bind_bits(nanobind::module_& module);
void bind_description(nanobind::module_& module);
void bind_file(nanobind::module_& module);
void bind_plain_index(nanobind::module_& module);
void bind_texts(nanobind::module_& module);
void bind_redistribute(nanobind::module_& module);
void bind_stream(nanobind::module_& module);
void bind_pipe(nanobind::module_& module);
void bind_location(nanobind::module_& module);
void bind_hdf5(nanobind::module_& module);
void bind_costs(nanobind::module_& module);
void bind_distant(nanobind::module_& module);
void bind_shared(nanobind::module_& module);

/// Converts a name to Python. Names are arbitrary bytes; those that are not UTF-8 are escaped, as in names of files.
inline nanobind::object to_str(std::string_view bytes) {
  nanobind::object text =
      nanobind::steal(PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape"));
  if (!text.is_valid()) nanobind::raise_python_error();
  return text;
}

/// Converts such a name back to its bytes.
inline std::string to_bytes(const nanobind::handle text) {
  const nanobind::object bytes = text.attr("encode")("utf-8", "surrogateescape");
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(bytes.ptr(), &data, &size) != 0) nanobind::raise_python_error();
  return {data, static_cast<std::size_t>(size)};
}

}  // namespace plait::python
