// proc_map, array_map, pread and pwrite.

#include "primitives1993/calls.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <iterator>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "collective/agree.hpp"
#include "primitives1993/lists.hpp"

namespace plait::primitives {

namespace {

/// Elements of the smallest buffer: an access between nodes needs at least two windows and two messages.
constexpr std::int64_t kMinWindow = 4;

std::int64_t buffer_bytes(std::int64_t io_size, std::int64_t element_bytes) {
  if (io_size == kNone) return 0;
  if (io_size < 1)
    base::throw_argument_error("io_size is ", io_size, "; give the elements of io_buffer, or -1 for the default");
  return base::checked_multiply(std::max(io_size, kMinWindow), element_bytes, "bytes of io_buffer");
}

/// Returns the .npy name of a Fortran type, such as `<f8`, for the readers of a pipe; empty if there is none.
std::string to_npy_type(const std::string& type) {
  const char byte_order = std::endian::native == std::endian::little ? '<' : '>';
  if (type == "DOUBLEPRECISION") return base::text(byte_order, "f8");
  const std::size_t star = type.find('*');
  const std::string_view kind = std::string_view(type).substr(0, star);
  const std::string_view bytes = std::string_view(type).substr(star + 1);
  if (kind == "CHARACTER") return base::text("|S", bytes);
  if (kind == "LOGICAL" && bytes == "1") return "|b1";
  const bool whole = kind == "INTEGER" || kind == "LOGICAL";
  if (whole && bytes == "1") return "|i1";
  if (whole && (bytes == "2" || bytes == "4" || bytes == "8")) return base::text(byte_order, 'i', bytes);
  if (kind == "REAL" && (bytes == "2" || bytes == "4" || bytes == "8")) return base::text(byte_order, 'f', bytes);
  if (kind == "COMPLEX" && (bytes == "8" || bytes == "16")) return base::text(byte_order, 'c', bytes);
  return "";
}

/// Returns the bytes of an element. `plain` is the name of the type in capitals without blanks.
std::int64_t type_bytes(const std::string& plain) {
  if (plain == "DOUBLEPRECISION") return 8;
  for (const std::string_view kind : {"INTEGER*", "REAL*", "COMPLEX*", "LOGICAL*", "CHARACTER*"}) {
    if (!plain.starts_with(kind)) continue;
    std::int64_t bytes = 0;
    const char* const begin = plain.data() + kind.size();
    const char* const end = plain.data() + plain.size();
    const auto [stop, error] = std::from_chars(begin, end, bytes);
    if (error == std::errc() && stop == end && bytes >= 1) return bytes;
  }
  base::throw_argument_error("the type '", plain,
                             "' is not known; use INTEGER*n, REAL*n, COMPLEX*n, LOGICAL*n or CHARACTER*n, ",
                             "with n the bytes of an element");
}

}  // namespace

void map_processors(const Extents& proc_info, std::int64_t mode, const Extents& user_map) {
  Runtime& state = runtime();
  Grid grid;
  Extents shape;
  const auto error = collective::caught([&] {
    shape = list_entries(fill_grid_list(proc_info, state.comm.size()), "proc_info");
    grid = make_grid(shape, mode, user_map, state.comm.size());
  });
  agree(state,
        base::text("proc_map(", base::tuple_text(shape), ", ", mode,
                   mode == kUserMap ? ", " + base::tuple_text(user_map) : std::string(), ')'),
        error);
  grid.version = ++state.grids;
  state.grid = std::move(grid);
}

std::int64_t map_array(const std::string& name, const MapLists& lists, std::int64_t element_bytes) {
  Runtime& state = runtime();
  MappedArray array;
  const auto error = collective::caught([&] { array = make_array(name, lists, state.comm.size()); });
  // The call is described by the entries in use, because memory after the ends of the lists may have any content.
  agree(state,
        base::text("array_map('", name, "', ", base::tuple_text(array.size), ", ", base::tuple_text(array.codes), ", ",
                   base::tuple_text(array.blocks), ", ", base::tuple_text(array.grid), ')'),
        error);
  array.element_bytes = element_bytes;
  array.type = base::text("INTEGER*", element_bytes);
  state.arrays.push_back(std::move(array));
  return static_cast<std::int64_t>(state.arrays.size());
}

void set_array_type(std::int64_t descriptor, const std::string& name) {
  Runtime& state = runtime();
  std::string plain;
  for (const char c : name)
    if (c != ' ') plain += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::int64_t bytes = 0;
  const auto error = collective::caught([&] {
    find_array(state, descriptor);
    bytes = type_bytes(plain);
  });
  agree(state, base::text("array_type(", descriptor, ", ", plain, ')'), error);
  MappedArray& array = find_array(state, descriptor);
  array.type = plain;
  array.element_bytes = bytes;
}

void access_array(bool write, const DeclaredArray& local, std::int64_t descriptor, std::int64_t unit,
                  std::int64_t io_size) {
  Runtime& state = runtime();
  Unit* target = nullptr;
  const Layout* layout = nullptr;
  std::int64_t bytes = 0;
  Extents strides;
  const auto error = collective::caught([&] {
    find_unit(state, unit);
    target = &state.units.at(unit);
    MappedArray& mapped = find_array(state, descriptor);
    layout = &current_layout(mapped, find_grid(state), descriptor);
    strides = local_strides(layout->local_shape(state.comm.rank()), mapped.largest, local, mapped.element_bytes,
                            base::text("array '", mapped.name, "' (descriptor ", descriptor, ')'));
    // Only a writer states the type: the program that reads may know no more than its size.
    const std::string dtype = write && target->is_pipe() ? to_npy_type(mapped.type) : "";
    target->file.select({mapped.size, dtype, mapped.element_bytes, Order::kFortran}, target->position,
                        buffer_bytes(io_size, mapped.element_bytes));
    bytes = base::checked_multiply(layout->elements(), mapped.element_bytes, "bytes of the array");
  });
  if (error) fail_together(state, error);
  auto* const data = static_cast<std::byte*>(local.data);
  if (write) {
    const ConstPart part{data, std::move(strides)};
    target->file.write(*layout, {&part, 1});
  } else {
    const MutablePart part{data, std::move(strides)};
    target->file.read(*layout, {&part, 1});
  }
  if (target->access == 0) target->position += bytes;
}

MappedArray& find_array(Runtime& state, std::int64_t descriptor) {
  const auto count = static_cast<std::int64_t>(state.arrays.size());
  if (descriptor >= 1 && descriptor <= count) return state.arrays[static_cast<std::size_t>(descriptor - 1)];
  base::throw_argument_error("there is no array descriptor ", descriptor, "; ",
                             count == 0 ? "none has been made" : base::text("there are 1 to ", count),
                             "; call array_map first");
}

const Grid& find_grid(const Runtime& state) {
  if (state.grid) return *state.grid;
  base::throw_argument_error("there is no processor grid; call proc_map first");
}

}  // namespace plait::primitives
