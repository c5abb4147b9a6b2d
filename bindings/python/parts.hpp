/// Local arrays as Python passes them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <vector>

#include "plait/file.hpp"

namespace plait::python {

/// The memory of an array with the buffer protocol.
template <typename Byte>
ArrayPart<Byte> to_part(const nanobind::handle array) {
  Py_buffer view;
  if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_STRIDES) != 0) throw nanobind::python_error();
  // The caller keeps the array, and with it the memory, after the view has been released.
  const auto dimensions = static_cast<std::size_t>(view.ndim);
  ArrayPart<Byte> part{static_cast<Byte*>(view.buf), {}};
  if (dimensions != 0) part.strides.assign(view.strides, view.strides + dimensions);
  PyBuffer_Release(&view);
  return part;
}

/// Converts local arrays: an array with the buffer protocol, or (address, strides in bytes).
template <typename Byte>
std::vector<ArrayPart<Byte>> to_parts(const nanobind::sequence& parts) {
  std::vector<ArrayPart<Byte>> result;
  for (const nanobind::handle part : parts)
    if (PyTuple_CheckExact(part.ptr()) == 0)
      result.push_back(to_part<Byte>(part));
    else
      result.push_back(
          {reinterpret_cast<Byte*>(nanobind::cast<std::uintptr_t>(part[0])), nanobind::cast<Extents>(part[1])});
  return result;
}

}  // namespace plait::python
