// Streams for the Fortran module: arrays of any type and shape as so many elements one behind the other.

#include <ISO_Fortran_binding.h>
#include <plait.h>

#include <cstdint>
#include <string>

#include "base/text.hpp"

namespace {

using plait::base::text;

/// The elements of an array, or -1 with a complaint.
std::int64_t elements_of(const CFI_cdesc_t& array, std::int64_t element_bytes, std::string& wrong) {
  std::int64_t elements = 1;
  for (int d = 0; d < array.rank; ++d) elements *= array.dim[d].extent;
  if (static_cast<std::int64_t>(array.elem_len) != element_bytes)
    wrong = text("the elements of the array have ", array.elem_len, " bytes, those of the file ", element_bytes,
                 "; use the file's type");
  else if (elements < 0)
    wrong = "the last extent of the array is not known; pass a section such as a(1:n)";
  else if (elements > 0 && array.base_addr == nullptr)
    wrong = "the array is not allocated";
  else if (elements > 1 && CFI_is_contiguous(&array) == 0)
    wrong = "the array is not contiguous; pass one without gaps";
  return wrong.empty() ? elements : -1;
}

}  // namespace

extern "C" {

/// Reads into the array what there is, at most all of its elements, or writes them all; with `request` it is started.
plait_status plait_fortran_stream(plait_stream* stream, const CFI_cdesc_t* array, std::int64_t element_bytes, int write,
                                  std::int64_t* done, plait_request** request) {
  std::string wrong;
  const std::int64_t elements = elements_of(*array, element_bytes, wrong);
  if (elements < 0) return plait_stream_refuse(stream, wrong.c_str());
  if (write != 0) {
    *done = elements;
    return request == nullptr ? plait_stream_write(stream, array->base_addr, elements)
                              : plait_stream_start_write(stream, array->base_addr, elements, request);
  }
  return request == nullptr ? plait_stream_read(stream, array->base_addr, elements, done)
                            : plait_stream_start_read(stream, array->base_addr, elements, request);
}

}  // extern "C"
