// Plain indices of arrays in files: integers, slices with positive strides, and one ellipsis.
//
// Problem: an index that Python parses, checks and describes to the core costs 20 us, far more than a read of a row.
//
// Idea: one call parses the index, makes the array of the result and reads into it. For everything else (other indices,
// errors, large results, arrays in pipes) the call returns None without an effect, and Python takes the general way
// (plait/_file/indexing), which gives the same results.
//
// Example: [7, 10:90] of 1000x1000 doubles is the region {7, 1, single}, {10, 80}, and a new array of 80 doubles.
// [7, ::-1] has a negative stride: None.

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include "bind.hpp"
#include "core/file/small/small_read.hpp"
#include "gil_release.hpp"
#include "plait/file.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace plait::python {

namespace {

/// An index of an array as a region.
struct PlainIndex {
  Region region;
  bool has_ellipsis = false;
};

/// Discards the exception of a conversion, which the general path, in Python, raises again.  Returns false.
/// errors  Exceptions that end the program, such as KeyboardInterrupt, which may occur during any call.
bool discard_exception() {
  if (PyErr_ExceptionMatches(PyExc_Exception) == 0) throw nb::python_error();
  PyErr_Clear();
  return false;
}

/// Adds an integer.  Returns false if the item is not an integer, or is outside of the dimension.
bool add_number(PyObject* item, std::int64_t size, Region& region) {
  static const nb::handle numpy_bool = nb::object(nb::module_::import_("numpy").attr("bool_")).release();
  // Before NumPy 2.3 its truth values could be converted to integers; as indices they add a dimension.
  const bool is_truth = PyBool_Check(item) || Py_TYPE(item) == reinterpret_cast<PyTypeObject*>(numpy_bool.ptr());
  if (is_truth || PyIndex_Check(item) == 0) return false;
  std::int64_t number = PyNumber_AsSsize_t(item, PyExc_IndexError);
  if (number == -1 && PyErr_Occurred() != nullptr) return discard_exception();
  if (number < -size || number >= size) return false;
  region.push_back({number < 0 ? number + size : number, 1, 1, true});
  return true;
}

/// Adds a slice.  Returns false if its stride is negative, or if it selects nothing.
bool add_slice(PyObject* item, std::int64_t size, Region& region) {
  Py_ssize_t start = 0;
  Py_ssize_t stop = 0;
  Py_ssize_t stride = 1;
  if (PySlice_Unpack(item, &start, &stop, &stride) != 0) return discard_exception();
  if (stride < 1) return false;
  const std::int64_t count = PySlice_AdjustIndices(size, &start, &stop, stride);
  if (count < 1) return false;
  region.push_back({start, count, count > 1 ? stride : 1, false});
  return true;
}

/// Parses the items of an index.  Returns false if it is not plain.
bool parse(std::span<PyObject* const> items, const Extents& shape, PlainIndex& index) {
  const std::size_t dimensions = shape.size();
  index.region.reserve(dimensions);
  const auto add_whole = [&](std::size_t end) {
    while (index.region.size() < end) index.region.push_back({0, shape[index.region.size()], 1, false});
  };
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i] == Py_Ellipsis) {
      const std::size_t after = items.size() - 1 - i;
      if (index.has_ellipsis || index.region.size() + after > dimensions) return false;
      index.has_ellipsis = true;
      add_whole(dimensions - after);
      continue;
    }
    const std::size_t d = index.region.size();
    if (d == dimensions) return false;
    const bool added = PySlice_Check(items[i]) ? add_slice(items[i], shape[d], index.region)
                                               : add_number(items[i], shape[d], index.region);
    if (!added) return false;
  }
  add_whole(dimensions);
  return true;
}

/// Returns the bytes of the elements of a region, or 0 if they are not a small read.
std::int64_t small_bytes(const Region& region, std::int64_t element_bytes) {
  std::int64_t bytes = element_bytes;
  for (const Slice& slice : region)
    if (__builtin_mul_overflow(bytes, slice.count, &bytes) || bytes > core::kMaxSmallRead) return 0;
  return bytes;
}

/// Makes the array of the result by numpy.empty.  Returns an invalid object if that fails.
nb::object make_array(const Region& region, nb::handle dtype, Order order) {
  static const nb::handle empty = nb::object(nb::module_::import_("numpy").attr("empty")).release();
  Py_ssize_t dimensions = 0;
  for (const Slice& slice : region) dimensions += slice.single ? 0 : 1;
  const nb::object shape = nb::steal(PyTuple_New(dimensions));
  if (!shape.is_valid()) return {};
  Py_ssize_t d = 0;
  for (const Slice& slice : region)
    if (!slice.single && PyTuple_SetItem(shape.ptr(), d++, PyLong_FromLongLong(slice.count)) != 0) return {};
  if (order == Order::kC || dimensions < 2)
    return nb::steal(PyObject_CallFunctionObjArgs(empty.ptr(), shape.ptr(), dtype.ptr(), nullptr));
  const nb::str fortran("F");
  return nb::steal(PyObject_CallFunctionObjArgs(empty.ptr(), shape.ptr(), dtype.ptr(), fortran.ptr(), nullptr));
}

/// The memory of an array, through the buffer protocol.
class ArrayMemory {
 public:
  explicit ArrayMemory(nb::handle array)
      : is_valid_(PyObject_GetBuffer(array.ptr(), &view_, PyBUF_STRIDES | PyBUF_WRITABLE) == 0) {}
  ~ArrayMemory() {
    if (is_valid_) PyBuffer_Release(&view_);
  }
  ArrayMemory(const ArrayMemory&) = delete;
  ArrayMemory& operator=(const ArrayMemory&) = delete;

  bool is_valid() const { return is_valid_; }
  std::span<std::byte> bytes() const {
    return {static_cast<std::byte*>(view_.buf), static_cast<std::size_t>(view_.len)};
  }

 private:
  Py_buffer view_{};
  bool is_valid_;
};

nb::object try_read(File& file, nb::handle index, nb::handle dtype) {
  const bool is_tuple = PyTuple_CheckExact(index.ptr());
  const std::size_t count = is_tuple ? static_cast<std::size_t>(PyTuple_Size(index.ptr())) : 1;
  constexpr std::size_t kMaxItems = 32;
  PyObject* items[kMaxItems] = {index.ptr()};
  if (count > kMaxItems) return nb::none();
  for (std::size_t i = 0; is_tuple && i < count; ++i)
    items[i] = PyTuple_GetItem(index.ptr(), static_cast<Py_ssize_t>(i));
  PlainIndex plain;
  const ArrayType& type = file.type();
  if (!parse({items, count}, type.shape, plain)) return nb::none();
  const std::int64_t bytes = small_bytes(plain.region, type.element_bytes);
  if (bytes == 0) return nb::none();
  nb::object array = make_array(plain.region, dtype, type.order);
  if (!array.is_valid()) return discard_exception(), nb::none();
  bool is_read = false;
  {
    const ArrayMemory memory(array);
    if (!memory.is_valid()) return discard_exception(), nb::none();
    const std::span<std::byte> data = memory.bytes();
    if (static_cast<std::int64_t>(data.size()) != bytes) return nb::none();
    const GilRelease release;
    is_read = core::read_small(file, plain.region, data);
  }
  if (!is_read) return nb::none();
  // As in NumPy, an index without slices and without an ellipsis gives an element, not an array.
  const bool is_element = !plain.has_ellipsis && std::ranges::all_of(plain.region, &Slice::single);
  return is_element ? nb::steal(PyObject_GetItem(array.ptr(), nb::tuple().ptr())) : array;
}

/// Returns the result of NumPy's indexing of the whole array, or None to let Python take the general way.
nb::object read_plain(File& file, nb::handle index, nb::handle dtype) {
  try {
    return try_read(file, index, dtype);
  } catch (const std::bad_alloc&) {
    return nb::none();  // the general way reports it
  }
}

}  // namespace

void bind_plain_index(nb::module_& module) {
  module.def("read_plain", &read_plain, "file"_a, "index"_a.none(), "dtype"_a);
}

}  // namespace plait::python
