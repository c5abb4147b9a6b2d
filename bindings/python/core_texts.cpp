// Texts of any length of plait._core.

#include "plait/texts.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "bind.hpp"
#include "gil_release.hpp"
#include "string.hpp"
#include "typed.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace plait::python {

namespace {

using TextList = nb::typed<nb::list, nb::str>;

/// Makes a list of Python's texts. The core has checked that they are UTF-8.
TextList to_list(const std::vector<std::string>& texts) {
  nb::list list = nb::steal<nb::list>(PyList_New(static_cast<Py_ssize_t>(texts.size())));
  if (!list.is_valid()) throw nb::python_error();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    PyObject* const text = PyUnicode_FromStringAndSize(texts[i].data(), static_cast<Py_ssize_t>(texts[i].size()));
    if (text == nullptr || PyList_SetItem(list.ptr(), static_cast<Py_ssize_t>(i), text) != 0) throw nb::python_error();
  }
  return TextList(list);
}

/// errors  ValueError, on this rank only: an item is not a `str`, or UTF-8 cannot represent it.
std::vector<std::string> to_texts(const TextList& list) {
  std::vector<std::string> texts;
  texts.reserve(list.size());
  for (const nb::handle item : list) {
    if (PyUnicode_Check(item.ptr()) == 0) {
      const std::string type = nb::cast<std::string>(nb::str(nb::handle(item.type()).attr("__name__")));
      throw nb::value_error(base::text("element ", texts.size(), " is of type ", type, "; expected str").c_str());
    }
    Py_ssize_t bytes = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(item.ptr(), &bytes);
    if (text == nullptr) {
      PyErr_Clear();
      throw nb::value_error(
          base::text("element ", texts.size(), " contains lone surrogates; expected a str that UTF-8 can represent")
              .c_str());
    }
    texts.emplace_back(text, static_cast<std::size_t>(bytes));
  }
  return texts;
}

}  // namespace

void bind_texts(nb::module_& module) {
  nb::class_<Texts>(module, "Texts")
      .def(nb::init<File&>(), "file"_a, nb::keep_alive<1, 2>())
      .def(
          "read",
          [](Texts& self, std::uintptr_t address, std::int64_t bytes) {
            std::vector<std::string> texts;
            {
              const GilRelease release;
              texts = self.read({reinterpret_cast<const std::byte*>(address), static_cast<std::size_t>(bytes)});
            }
            return to_list(texts);
          },
          "address"_a, "bytes"_a)
      .def(
          "add",
          [](Texts& self, const TextList& texts) {
            const std::vector<std::string> given = to_texts(texts);
            std::vector<std::byte> elements;
            {
              const GilRelease release;
              elements = self.add(given);
            }
            return nb::bytes(elements.data(), elements.size());
          },
          "texts"_a);
}

}  // namespace plait::python
