// What the Fortran module needs besides plait.h: arrays of any type, rank and strides, and the ranks of the program.

#include <ISO_Fortran_binding.h>
#include <plait.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "handle.hpp"
#include "objects.hpp"
#include "primitives/runtime.hpp"

namespace {

using plait::Extents;
using plait::base::text;

/// Shape as Fortran programs write it: (64, 16).
std::string shape_text(const Extents& shape) { return plait::base::tuple_text(shape); }

/// What is wrong with a local array, or nothing.
std::string complaint(const CFI_cdesc_t& array, const Extents& wanted, std::int64_t element_bytes, std::int64_t rank) {
  const auto dimensions = static_cast<std::size_t>(array.rank);
  Extents found;
  for (std::size_t d = 0; d < dimensions; ++d) found.push_back(array.dim[d].extent);
  // The last extent of an assumed-size array is not known.
  const bool assumed = dimensions > 0 && found.back() == -1;
  if (assumed && dimensions == wanted.size()) found.back() = wanted.back();
  if (found != wanted)
    return text("the local array of rank ", rank, " has the shape ", shape_text(found), ", but the layout says ",
                shape_text(wanted), "; allocate it with layout%local_shape(", rank, ")");
  if (static_cast<std::int64_t>(array.elem_len) != element_bytes)
    return text("the elements of the local array have ", array.elem_len, " bytes, those of the file ", element_bytes,
                "; use the file's type");
  std::int64_t elements = 1;
  for (const std::int64_t extent : wanted) elements *= extent;
  if (array.base_addr == nullptr && elements > 0) return text("the local array of rank ", rank, " is not allocated");
  return {};
}

}  // namespace

extern "C" {

/// The ranks of MPI_COMM_WORLD, which the primitives work on as well; MPI is initialised where it is not.  Collective.
plait_status plait_fortran_world(plait_comm** comm) {
  return plait::c::guarded(nullptr, [&] { *comm = new plait_comm(plait::primitives::runtime().comm); });
}

/// Tells an error that nobody asks for, once.
void plait_fortran_tell(const char* message, int rank) {
  if (rank == 0) std::fprintf(stderr, "plait: %s\n", message);
}

plait_status plait_fortran_open(const char* url, const char* mode, const plait_comm* comm, int dimensions,
                                const std::int64_t* shape, const char* dtype, std::int64_t element_bytes,
                                const char* order, std::int64_t offset, std::int64_t memory, const char* strategy,
                                std::int64_t readers, plait_file** file) {
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
  return plait_open(url, mode, comm, &options, file);
}

/// One access of the array of this process's rank.  `first` counts from 1; no slices: the whole array.  With `request`
/// it is started.  What is wrong with the array is told to all ranks.
plait_status plait_fortran_access(plait_file* file, const plait_layout* layout, const CFI_cdesc_t* array, int rank,
                                  int alone, int slices, const std::int64_t* first, const std::int64_t* count,
                                  const std::int64_t* step, int fill_halo, int write, plait_request** request) {
  std::int64_t element_bytes = 0;
  std::int64_t ranks = 0;
  std::int64_t end = 0;
  int dimensions = 0;
  int mine = 0;
  if (plait_file_element_bytes(file, &element_bytes) != PLAIT_OK) return PLAIT_ERROR_ARGUMENT;
  if (plait_layout_ranks(layout, &ranks, &end) != PLAIT_OK || plait_layout_has_rank(layout, rank, &mine) != PLAIT_OK ||
      plait_layout_dimensions(layout, &dimensions) != PLAIT_OK)
    return plait_file_refuse(file, "the layout is not made; call plait_parse first");
  if (alone != 0 && ranks > 1)
    return plait_file_refuse(
        file, text("the layout has ", ranks, " ranks, but the file was opened by one process; open it with plait_world")
                  .c_str());
  Extents shape(static_cast<std::size_t>(dimensions));
  Extents steps;
  if (mine != 0) {
    plait_layout_padded_shape(layout, rank, dimensions, shape.data());
    const std::string wrong = complaint(*array, shape, element_bytes, rank);
    if (!wrong.empty()) return plait_file_refuse(file, wrong.c_str());
    for (int d = 0; d < dimensions; ++d) steps.push_back(array->dim[d].sm);
  }
  std::vector<plait_slice> region;
  for (int d = 0; d < slices; ++d) region.push_back({first[d] - 1, count[d], step[d], 0});
  plait_access access{};
  access.size = sizeof access;
  access.region = slices == 0 ? nullptr : region.data();
  access.slices = slices;
  access.fill_halo = fill_halo;
  const std::int64_t held = mine != 0 ? 1 : 0;
  if (write != 0) {
    const plait_const_part part{array->base_addr, PLAIT_UNKNOWN, steps.data()};
    return request == nullptr ? plait_write_parts(file, layout, &part, held, &access)
                              : plait_start_write_parts(file, layout, &part, held, &access, request);
  }
  const plait_part part{array->base_addr, PLAIT_UNKNOWN, steps.data()};
  return request == nullptr ? plait_read_parts(file, layout, &part, held, &access)
                            : plait_start_read_parts(file, layout, &part, held, &access, request);
}

}  // extern "C"
