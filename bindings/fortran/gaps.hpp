/// Arrays of any type and shape as so many elements one behind the other.
#pragma once

#include <ISO_Fortran_binding.h>

#include <cstdint>
#include <string>

namespace plait::fortran {

/// How many elements an array without gaps has, or -1 with a complaint.
inline std::int64_t elements_without_gaps(const CFI_cdesc_t& array, std::string& wrong) {
  std::int64_t elements = 1;
  // Of an array that is not allocated nothing else is known.
  for (int d = 0; array.base_addr != nullptr && d < array.rank; ++d) elements *= array.dim[d].extent;
  if (array.base_addr == nullptr)
    wrong = "the array is not allocated";
  else if (elements < 0)
    wrong = "the last extent of the array is not known; pass a section such as a(1:n)";
  else if (elements > 1 && CFI_is_contiguous(&array) == 0)
    wrong = "the array is not contiguous; pass one without gaps";
  return wrong.empty() ? elements : -1;
}

}  // namespace plait::fortran
