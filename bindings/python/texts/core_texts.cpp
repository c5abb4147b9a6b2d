// Texts of any length of plait._core.

#include "plait/texts.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "bind.hpp"
#include "gil_release.hpp"
#include "string.hpp"
#include "texts/numpy_strings.hpp"
#include "typed.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace plait::python {

namespace {

using TextList = nb::typed<nb::list, nb::str>;

/// Makes a list of Python's texts, from `first` on. The core has checked that they are UTF-8.
TextList to_list(const TextBlock& texts, std::size_t first, std::size_t count) {
  if (first > texts.size() || count > texts.size() - first) throw nb::index_error("there are fewer texts");
  nb::list list = nb::steal<nb::list>(PyList_New(static_cast<Py_ssize_t>(count)));
  if (!list.is_valid()) throw nb::python_error();
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view bytes = texts[first + i];
    PyObject* const text = PyUnicode_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size()));
    if (text == nullptr || PyList_SetItem(list.ptr(), static_cast<Py_ssize_t>(i), text) != 0) throw nb::python_error();
  }
  return TextList(list);
}

/// Returns the UTF-8 of an object.
/// errors  ValueError, which names `position`: it is not a `str`, or UTF-8 cannot represent it.
std::string_view to_utf8(nb::handle item, std::size_t position) {
  if (PyUnicode_Check(item.ptr()) == 0) {
    const std::string type = nb::cast<std::string>(nb::str(nb::handle(item.type()).attr("__name__")));
    throw nb::value_error(base::text("element ", position, " is of type ", type, "; expected str").c_str());
  }
  Py_ssize_t bytes = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(item.ptr(), &bytes);
  if (text == nullptr) {
    PyErr_Clear();
    throw nb::value_error(
        base::text("element ", position, " contains lone surrogates; expected a str that UTF-8 can represent").c_str());
  }
  return {text, static_cast<std::size_t>(bytes)};
}

/// errors  ValueError, on this rank only: an item is not a `str`, or UTF-8 cannot represent it.
TextBlock to_block(const TextList& list) {
  TextBlock texts;
  texts.reserve(list.size(), 0);
  for (const nb::handle item : list) texts.add(to_utf8(item, texts.size()));
  return texts;
}

nb::bytes add(Texts& texts, const TextBlock& block) {
  std::vector<std::byte> elements;
  {
    const GilRelease release;
    elements = texts.add_block(block);
  }
  return nb::bytes(elements.data(), elements.size());
}

void bind_block(nb::module_& module) {
  nb::class_<TextBlock>(module, "TextBlock")
      .def(nb::init<>())
      .def_static("from_list", &to_block, "texts"_a)
      .def("__len__", &TextBlock::size)
      .def("to_list", &to_list, "first"_a, "count"_a)
      .def(
          "load",
          [](TextBlock& self, std::uintptr_t address, std::size_t count, nb::handle dtype) {
            load_texts({address, count, dtype}, self);
          },
          "address"_a, "count"_a, "dtype"_a)
      .def(
          "store",
          [](const TextBlock& self, std::size_t first, std::uintptr_t address, std::size_t count, nb::handle dtype) {
            store_texts(self, first, {address, count, dtype});
          },
          "first"_a, "address"_a, "count"_a, "dtype"_a);
}

}  // namespace

void bind_texts(nb::module_& module) {
  bind_block(module);
  nb::class_<Texts>(module, "Texts")
      .def(nb::init<File&>(), "file"_a, nb::keep_alive<1, 2>())
      .def(
          "read",
          [](Texts& self, std::uintptr_t address, std::int64_t bytes) {
            const GilRelease release;
            return self.read_block({reinterpret_cast<const std::byte*>(address), static_cast<std::size_t>(bytes)});
          },
          "address"_a, "bytes"_a)
      .def("add", &add, "texts"_a);
}

}  // namespace plait::python
