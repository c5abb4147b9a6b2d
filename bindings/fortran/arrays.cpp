// Files of the Fortran module: access to arrays of any type, rank and strides.
//
// Fortran passes a local array as a descriptor (CFI_cdesc_t). Its strides need not be contiguous, so that sections such
// as a(1:n:2, :) are read and written without copies.
// Example: real(8) a(6, 4), section a(1:6:2, :) with the extents (3, 4). The descriptor's multipliers (`sm`) are the
// strides in bytes: 16 and 48. They are passed on as the strides of the local array, whose layout has order F.

#include <ISO_Fortran_binding.h>
#include <plait.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "core/file/unclosed.hpp"
#include "handle.hpp"
#include "handles.hpp"
#include "objects.hpp"

namespace {

using plait::Extents;
using plait::base::Rejection;
using plait::base::text;
using plait::fortran::find;
using plait::fortran::Table;
using plait::fortran::Ticket;

/// Returns the reason why an access cannot use a local array.
Rejection array_rejection(const CFI_cdesc_t& array, const Extents& expected, std::int64_t element_bytes,
                          std::int64_t rank) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : expected) elements *= extent;
  // The extents of an array that is not allocated are undefined.
  if (array.base_addr == nullptr)
    return elements == 0 ? Rejection() : Rejection::because("the local array of rank ", rank, " is not allocated");
  const auto dimensions = static_cast<std::size_t>(array.rank);
  Extents actual;
  for (std::size_t d = 0; d < dimensions; ++d) actual.push_back(array.dim[d].extent);
  // The last extent of an assumed-size array is -1; the layout determines it.
  const bool assumed = dimensions > 0 && actual.back() == -1;
  if (assumed && dimensions == expected.size()) actual.back() = expected.back();
  if (actual != expected)
    return Rejection::because("the local array of rank ", rank, " has the shape ", plait::shape_to_string(actual),
                              ", but the layout says ", plait::shape_to_string(expected),
                              "; allocate it with layout%local_shape(", rank, ")");
  if (static_cast<std::int64_t>(array.elem_len) != element_bytes)
    return Rejection::because("the elements of the local array have ", array.elem_len, " bytes, those of the file ",
                              element_bytes, "; use the file's type");
  return {};
}

/// The arguments of an access.
struct AccessArguments {
  const plait_layout* layout = nullptr;
  const CFI_cdesc_t* array = nullptr;
  int rank = 0;
  bool alone = false;
  int slices = 0;
  const std::int64_t* first = nullptr;
  const std::int64_t* count = nullptr;
  const std::int64_t* stride = nullptr;
  int fill_halo = 0;
  bool write = false;
  int append_axis = -1;  ///< dimension that a write extends; -1: none
};

/// Performs an access, or starts it if there is a `request`. An error in the array is reported to all ranks.
plait_status access_file(plait_file* file, const AccessArguments& arguments, plait_request** request) {
  std::int64_t element_bytes = 0;
  std::int64_t ranks = 0;
  std::int64_t end = 0;
  int dimensions = 0;
  int has_part = 0;
  if (plait_file_element_bytes(file, &element_bytes) != PLAIT_OK) return PLAIT_ERROR_ARGUMENT;
  if (plait_layout_ranks(arguments.layout, &ranks, &end) != PLAIT_OK ||
      plait_layout_has_rank(arguments.layout, arguments.rank, &has_part) != PLAIT_OK ||
      plait_layout_dimensions(arguments.layout, &dimensions) != PLAIT_OK)
    return plait_file_fail(file, "the layout is not made; call plait_parse first");
  if (arguments.alone && ranks > 1)
    return plait_file_fail(
        file, text("the layout has ", ranks, " ranks, but the file was opened by one process; open it with plait_world")
                  .c_str());
  Extents shape(static_cast<std::size_t>(dimensions));
  Extents strides;
  if (has_part != 0) {
    plait_layout_padded_shape(arguments.layout, arguments.rank, dimensions, shape.data());
    if (const Rejection rejection = array_rejection(*arguments.array, shape, element_bytes, arguments.rank))
      return plait_file_fail(file, rejection.reason().c_str());
    for (int d = 0; d < dimensions; ++d)
      strides.push_back(arguments.array->base_addr == nullptr ? 0 : arguments.array->dim[d].sm);
  }
  std::vector<plait_slice> region;
  for (int d = 0; d < arguments.slices; ++d)
    region.push_back({arguments.first[d] - 1, arguments.count[d], arguments.stride[d], 0});
  plait_access access{};
  access.size = sizeof access;
  access.region = arguments.slices == 0 ? nullptr : region.data();
  access.slices = arguments.slices;
  access.fill_halo = arguments.fill_halo;
  const std::int64_t part_count = has_part != 0 ? 1 : 0;
  if (arguments.write) {
    const plait_const_part part{arguments.array->base_addr, PLAIT_UNKNOWN, strides.data()};
    if (arguments.append_axis >= 0)
      return plait_append_parts(file, arguments.layout, &part, part_count, arguments.append_axis);
    return request == nullptr ? plait_write_parts(file, arguments.layout, &part, part_count, &access)
                              : plait_start_write_parts(file, arguments.layout, &part, part_count, &access, request);
  }
  const plait_part part{arguments.array->base_addr, PLAIT_UNKNOWN, strides.data()};
  return request == nullptr ? plait_read_parts(file, arguments.layout, &part, part_count, &access)
                            : plait_start_read_parts(file, arguments.layout, &part, part_count, &access, request);
}

/// Reports an error of opening to all ranks, before any of them opens the file.
plait_status fail_open(const plait_comm* comm, const char* message) {
  return plait::c::guarded(comm, [&] { plait::File::fail_open(message, plait::c::to_comm(comm)); });
}

}  // namespace

extern "C" {

/// Opens a file. wrong: the error that the module has found in the arguments, empty if there is none; all ranks get it.
plait_status plait_fortran_open(const char* url, const char* mode, Ticket comm_ticket, int dimensions,
                                const std::int64_t* shape, const char* dtype, std::int64_t element_bytes,
                                const char* order, std::int64_t offset, std::int64_t memory, const char* strategy,
                                std::int64_t readers, int durable, const char* wrong, Ticket* file) {
  const plait_comm* const comm = find<plait_comm>(comm_ticket);
  if (*wrong != '\0') return fail_open(comm, wrong);
  try {
    if (const plait_file* const used = find<plait_file>(*file); used != nullptr)
      plait::base::throw_argument_error("the handle is that of an open file, ", used->file->path(),
                                        "; call plait_close first, or use another variable");
    Table<plait_file>::instance().reserve();
    plait::fortran::abandon_open_files_at_end();
  } catch (const std::exception& error) {
    return fail_open(comm, error.what());
  }
  plait_open_options options{};
  options.size = sizeof options;
  options.dimensions = dimensions;
  options.shape = dimensions < 0 ? nullptr : shape;
  if (dimensions < 0) options.dimensions = 0;
  options.dtype = *dtype == '\0' ? nullptr : dtype;
  options.element_bytes = element_bytes;
  options.order = *order == '\0' ? nullptr : order;
  options.offset = offset;
  options.memory = memory;
  options.strategy = *strategy == '\0' ? nullptr : strategy;
  options.readers = readers;
  options.durable = durable;
  return plait::fortran::make_handle<plait_file>(file, [&](plait_file** opened) {
    const plait::core::SilentScope silence;  // the module itself warns about handles that are lost
    return plait_open(url, mode, comm, &options, opened);
  });
}

/// Accesses the array of this process's rank. `first` counts from 1; without slices the access is that of the whole
/// array. With `request` the access is started. wrong: see plait_fortran_open().
plait_status plait_fortran_access(Ticket file_ticket, Ticket layout, const CFI_cdesc_t* array, int rank, int alone,
                                  int slices, const std::int64_t* first, const std::int64_t* count,
                                  const std::int64_t* stride, int fill_halo, int write, const char* wrong,
                                  Ticket* request) {
  plait_file* const file = find<plait_file>(file_ticket);
  if (*wrong != '\0') return plait_file_fail(file, wrong);
  if (request != nullptr && find<plait_request>(*request) != nullptr)
    return plait_file_fail(file, "the request is in use; call plait_wait first, or use another variable");
  const AccessArguments arguments{
      find<plait_layout>(layout), array, rank, alone != 0, slices, first, count, stride, fill_halo, write != 0};
  try {
    if (request == nullptr) return access_file(file, arguments, nullptr);
    Table<plait_request>::instance().reserve();
    return plait::fortran::make_handle<plait_request>(
        request, [&](plait_request** started) { return access_file(file, arguments, started); });
  } catch (const std::exception& error) {
    return plait_file_fail(file, error.what());
  }
}

/// Appends the array of this process's rank along the dimension `axis`, counted from 1. wrong: see
/// plait_fortran_open().
plait_status plait_fortran_append(Ticket file_ticket, Ticket layout, const CFI_cdesc_t* array, int rank, int alone,
                                  int axis, const char* wrong) {
  plait_file* const file = find<plait_file>(file_ticket);
  if (*wrong != '\0') return plait_file_fail(file, wrong);
  AccessArguments block;
  block.layout = find<plait_layout>(layout);
  block.array = array;
  block.rank = rank;
  block.alone = alone != 0;
  block.write = true;
  block.append_axis = axis - 1;
  try {
    return access_file(file, block, nullptr);
  } catch (const std::exception& error) {
    return plait_file_fail(file, error.what());
  }
}

/// Changes the shape of the array. wrong: see plait_fortran_open().
plait_status plait_fortran_resize(Ticket file_ticket, int dimensions, const std::int64_t* shape, const char* wrong) {
  plait_file* const file = find<plait_file>(file_ticket);
  if (*wrong != '\0') return plait_file_fail(file, wrong);
  return plait_resize(file, dimensions, shape);
}

}  // extern "C"
