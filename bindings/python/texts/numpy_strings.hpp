/// The elements of NumPy arrays of StringDType.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>

#include "plait/text_block.hpp"

namespace plait::python {

/// The dense elements of an array. The array must outlive this object.
struct NumpyStrings {
  std::uintptr_t address;
  std::size_t count;
  nanobind::handle dtype;  ///< `array.dtype`: the instance of this array, which owns its longer texts
};

/// Stores texts in an array, from text `first` of the block on. The caller holds the interpreter's lock.
/// errors  ValueError: the dtype is no StringDType, or the block has fewer texts.  RuntimeError: NumPy is older than 2.
///         MemoryError.
void store_texts(const TextBlock& texts, std::size_t first, const NumpyStrings& target);

/// Appends the texts of an array to a block. The caller holds the interpreter's lock.
/// errors  Those of store_texts(); ValueError: an element is missing (`na_object`). The texts before it are appended.
void load_texts(const NumpyStrings& source, TextBlock& texts);

}  // namespace plait::python
