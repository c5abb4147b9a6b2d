// Streams for the Fortran module: arrays of any type and shape as contiguous elements.

#include <ISO_Fortran_binding.h>
#include <plait.h>

#include <cstdint>
#include <string>

#include "base/errors.hpp"
#include "gaps.hpp"
#include "handles.hpp"

namespace {

using plait::base::Rejection;
using plait::fortran::find;
using plait::fortran::Table;
using plait::fortran::Ticket;

/// Counts the elements of an array. Returns -1 with a rejection if a stream cannot use it.
std::int64_t count_elements(const CFI_cdesc_t& array, std::int64_t element_bytes, Rejection& rejection) {
  if (array.base_addr != nullptr && static_cast<std::int64_t>(array.elem_len) != element_bytes) {
    rejection = Rejection::because("the elements of the array have ", array.elem_len, " bytes, those of the file ",
                                   element_bytes, "; use the file's type");
    return -1;
  }
  return plait::fortran::elements_without_gaps(array, rejection);
}

/// The arguments of a transfer through a stream.
struct Transfer {
  const CFI_cdesc_t& array;
  std::int64_t element_bytes;
  bool write;
  std::int64_t* done;  ///< number of elements
};

/// Performs a transfer, or starts it if there is a `request`.
plait_status move(plait_stream* stream, const Transfer& what, plait_request** request) {
  Rejection rejection;
  const std::int64_t elements = count_elements(what.array, what.element_bytes, rejection);
  if (elements < 0) return plait_stream_fail(stream, rejection.reason().c_str());
  void* const data = what.array.base_addr;
  if (what.write) {
    *what.done = elements;
    return request == nullptr ? plait_stream_write(stream, data, elements)
                              : plait_stream_start_write(stream, data, elements, request);
  }
  return request == nullptr ? plait_stream_read(stream, data, elements, what.done)
                            : plait_stream_start_read(stream, data, elements, request);
}

}  // namespace

extern "C" {

plait_status plait_fortran_stream_open(Ticket file_ticket, int mode, Ticket* stream) {
  plait_file* const file = find<plait_file>(file_ticket);
  if (find<plait_stream>(*stream) != nullptr)
    return plait_file_fail(file, "the handle is that of an open stream; call plait_stream_close first");
  try {
    Table<plait_stream>::instance().reserve();
  } catch (const std::exception& error) {
    return plait_file_fail(file, error.what());
  }
  return plait::fortran::make_handle<plait_stream>(
      stream, [&](plait_stream** opened) { return plait_stream_open(file, mode, opened); });
}

/// Reads the available elements, at most as many as the array has, or writes all of them; with `request` the access is
/// started.
plait_status plait_fortran_stream(Ticket stream_ticket, const CFI_cdesc_t* array, std::int64_t element_bytes, int write,
                                  std::int64_t* done, Ticket* request) {
  plait_stream* const stream = find<plait_stream>(stream_ticket);
  if (request != nullptr && find<plait_request>(*request) != nullptr)
    return plait_stream_fail(stream, "the request is in use; call plait_wait first, or use another variable");
  const Transfer what{*array, element_bytes, write != 0, done};
  try {
    if (request == nullptr) return move(stream, what, nullptr);
    Table<plait_request>::instance().reserve();
    return plait::fortran::make_handle<plait_request>(
        request, [&](plait_request** started) { return move(stream, what, started); });
  } catch (const std::exception& error) {
    return plait_stream_fail(stream, error.what());
  }
}

}  // extern "C"
