// The 1993 primitives in C.

#include <plait_primitives.h>

#include <algorithm>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "handle.hpp"
#include "primitives1993/calls.hpp"
#include "primitives1993/lists.hpp"

namespace {

namespace primitives = plait::primitives;
using plait::Extents;

std::string to_text(const char* text) { return text == nullptr ? "" : text; }

void check_capacity(std::int64_t capacity, std::size_t needed) {
  if (capacity < static_cast<std::int64_t>(needed))
    plait::base::throw_argument_error("the table has room for ", capacity, " integers, but needs ", needed);
}

}  // namespace

extern "C" {

plait_status plait_popen(int unit, const char* file, int access, int form, int status, int* no_of_disks,
                         int no_of_processors) {
  return plait::c::guarded(nullptr, [&] {
    const std::int64_t disks = primitives::open_unit(
        unit, to_text(file),
        {access, form, status, no_of_disks == nullptr ? primitives::kNone : *no_of_disks, no_of_processors});
    if (no_of_disks != nullptr) *no_of_disks = static_cast<int>(disks);
  });
}

plait_status plait_pclose(int unit) {
  return plait::c::guarded(nullptr, [&] { primitives::close_unit(unit); });
}

int plait_array_map(const char* array_name, const int64_t size_info[7], const int distr_info[7],
                    const int64_t block_size[7], const int proc_info[7]) {
  int descriptor = 0;
  const int status = plait::c::guarded(nullptr, [&] {
    descriptor = static_cast<int>(
        primitives::map_array(to_text(array_name),
                              {primitives::read_list(size_info), primitives::read_whole_list(distr_info),
                               primitives::read_whole_list(block_size), primitives::read_whole_list(proc_info)},
                              sizeof(std::int32_t)));
  });
  return status == PLAIT_OK ? descriptor : -status;
}

plait_status plait_array_type(int array_descriptor, const char* type) {
  return plait::c::guarded(nullptr, [&] { primitives::set_array_type(array_descriptor, to_text(type)); });
}

plait_status plait_proc_map(const int proc_info[7], int map_mode, const int* user_map) {
  return plait::c::guarded(nullptr, [&] {
    Extents map;
    if (map_mode == PLAIT_USER_MAP && user_map != nullptr)
      map.assign(user_map, user_map + primitives::runtime().comm.size());
    primitives::map_processors(primitives::read_whole_list(proc_info), map_mode, map);
  });
}

plait_status plait_pread(void* array_name, int64_t size1, int64_t size2, int array_descriptor, int unit,
                         void* /*io_buffer*/, int64_t io_size) {
  return plait::c::guarded(
      nullptr, [&] { primitives::access_array(false, {array_name, size1, size2}, array_descriptor, unit, io_size); });
}

plait_status plait_pwrite(const void* array_name, int64_t size1, int64_t size2, int array_descriptor, int unit,
                          void* /*io_buffer*/, int64_t io_size) {
  return plait::c::guarded(nullptr, [&] {
    primitives::access_array(true, {const_cast<void*>(array_name), size1, size2}, array_descriptor, unit, io_size);
  });
}

plait_status plait_fda(int unit, int row[6]) {
  return plait::c::guarded(nullptr, [&] {
    const Extents row_values = primitives::make_table(primitives::find_unit(primitives::existing_runtime(), unit));
    std::transform(row_values.begin(), row_values.end(), &plait::c::output(row, "row"),
                   [](auto value) { return static_cast<int>(value); });
  });
}

plait_status plait_adt(int array_descriptor, int64_t table[28]) {
  return plait::c::guarded(nullptr, [&] {
    const Extents row_values =
        primitives::make_table(primitives::find_array(primitives::existing_runtime(), array_descriptor));
    std::copy(row_values.begin(), row_values.end(), &plait::c::output(table, "table"));
  });
}

plait_status plait_p_info(int64_t capacity, int* table, int* rows, int* columns) {
  return plait::c::guarded(nullptr, [&] {
    const primitives::Grid& grid = primitives::find_grid(primitives::existing_runtime());
    if (rows != nullptr) *rows = static_cast<int>(grid.shape.size()) + 1;
    if (columns != nullptr) *columns = static_cast<int>(grid.ranks.size());
    if (table == nullptr && capacity == 0) return;
    const Extents row_values = primitives::make_table(grid);
    check_capacity(table == nullptr ? 0 : capacity, row_values.size());
    std::transform(row_values.begin(), row_values.end(), table, [](auto value) { return static_cast<int>(value); });
  });
}

plait_status plait_print_fda(void) {
  return plait::c::guarded(nullptr, [&] {
    const primitives::Runtime& state = primitives::existing_runtime();
    primitives::print(state, primitives::describe_units(state));
  });
}

plait_status plait_print_adt(int array_descriptor) {
  return plait::c::guarded(nullptr, [&] {
    primitives::Runtime& state = primitives::existing_runtime();
    primitives::print(state, primitives::to_string(primitives::find_array(state, array_descriptor)));
  });
}

plait_status plait_print_p_info(void) {
  return plait::c::guarded(nullptr, [&] {
    const primitives::Runtime& state = primitives::existing_runtime();
    primitives::print(state, primitives::to_string(primitives::find_grid(state)));
  });
}

}  // extern "C"
