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

/// A variable and the location of its elements. They are one row or, if the variable grows along the record dimension,
/// one row for each record; the rows of other variables are stored between them.
struct Variable {
  Member member;
  Rows rows;
  bool grows = false;  ///< true if its first dimension is the record dimension
  Rows records{};      ///< one row for each record, if the variable grows
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
