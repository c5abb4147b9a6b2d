/// The header of netCDF's classic formats: CDF-1, CDF-2 with 64-bit offsets, and CDF-5 with 64-bit sizes. The parser
/// follows the grammar of The NetCDF Classic Format Specification (Unidata).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "container/format.hpp"
#include "container/part_store.hpp"
#include "store/store.hpp"

namespace plait::container::netcdf {

/// A variable and the location of its elements. A variable grows if its first dimension is the record dimension, the
/// unlimited one of the file. Its elements are then one row for each record, with the rows of other variables between
/// them; the elements of other variables are one row.
struct Variable {
  Member member;
  Rows rows;           ///< the elements; a single row if they are contiguous
  bool grows = false;  ///< true if its first dimension is the record dimension
  Rows records{};      ///< one row for each record, if the variable grows, even if they are contiguous
};

/// Offsets in the header at which dimensions and variables can be added.
struct HeaderPositions {
  int version = 1;                  ///< 1, 2 or 5
  std::int64_t dimensions = 0;      ///< the list of dimensions
  std::int64_t dimensions_end = 0;  ///< the offset after this list
  std::int64_t variables = 0;       ///< the list of variables
  std::int64_t end = 0;             ///< the offset after the header
};

struct Header {
  std::vector<Variable> variables;  ///< by ascending offset
  ArrayAttributes attributes;       ///< attributes of the whole file
  std::vector<GroupDimension> dimensions;
  HeaderPositions positions;
};

/// Reads the header.
/// errors  kSystem: the file has none of these formats, its header is damaged, with the position, or variables overlap.
/// cost  Proportional to the length of the header.
Header read_header(store::Store& store, const std::string& file);

}  // namespace plait::container::netcdf
