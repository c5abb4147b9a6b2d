/// The primitives, called by the interfaces in C and in Fortran. Each is collective, in the same order on all ranks,
/// and throws the same Error on every rank.
#pragma once

#include <cstdint>
#include <string>

#include "plait/distribution.hpp"
#include "primitives1993/runtime.hpp"

namespace plait::primitives {

/// The options of popen, in the thesis's codes. -1 stands for all disks or all processors.
struct OpenCodes {
  std::int64_t access;
  std::int64_t form;
  std::int64_t status;
  std::int64_t disks;
  std::int64_t processors;
};

/// Opens a file for a unit. Returns the number of disks of the file.
std::int64_t open_unit(std::int64_t unit, const std::string& path, const OpenCodes& codes);
void close_unit(std::int64_t unit);

/// `proc_info` has seven entries; `user_map` has the entries of all ranks, in mode -1.
void map_processors(const Extents& proc_info, std::int64_t mode, const Extents& user_map);
/// Defines an array, whose elements are integers of `element_bytes` bytes at first. Returns the descriptor, 1 or
/// more.
std::int64_t map_array(const std::string& name, const MapLists& lists, std::int64_t element_bytes);
/// Sets the type of a descriptor's elements by its name in Fortran, such as `real*8` or `DOUBLE PRECISION`.
void set_array_type(std::int64_t descriptor, const std::string& name);

/// Reads or writes the array of a descriptor; `io_size` is in elements, -1 for the default.
void access_array(bool write, const DeclaredArray& local, std::int64_t descriptor, std::int64_t unit,
                  std::int64_t io_size);

/// Not collective.
/// errors  kArgument: no such unit, no such descriptor, no grid yet.
const Unit& find_unit(Runtime& state, std::int64_t number);
MappedArray& find_array(Runtime& state, std::int64_t descriptor);
const Grid& find_grid(const Runtime& state);

/// Returns the row of the thesis's table 12: unit, access, form, status, disks, processors.
Extents make_table(const Unit& unit);
/// Returns the table of all open units, the thesis's File Descriptor Array (FDA, table 12), as text.
std::string describe_units(const Runtime& state);

}  // namespace plait::primitives
