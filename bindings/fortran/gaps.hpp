/// Arrays of any type and shape as contiguous elements.
#pragma once

#include <ISO_Fortran_binding.h>

#include <cstdint>

#include "base/errors.hpp"

namespace plait::fortran {

/// Counts the elements of an array without gaps. Returns -1 with a rejection if it has gaps or its size is unknown.
inline std::int64_t elements_without_gaps(const CFI_cdesc_t& array, base::Rejection& rejection) {
  std::int64_t elements = 1;
  // The extents of an array that is not allocated are undefined.
  for (int d = 0; array.base_addr != nullptr && d < array.rank; ++d) elements *= array.dim[d].extent;
  if (array.base_addr == nullptr)
    rejection = base::Rejection("the array is not allocated");
  else if (elements < 0)
    rejection = base::Rejection("the last extent of the array is not known; pass a section such as a(1:n)");
  else if (elements > 1 && CFI_is_contiguous(&array) == 0)
    rejection = base::Rejection("the array is not contiguous; pass one without gaps");
  return rejection ? -1 : elements;
}

}  // namespace plait::fortran
