/// The header of netCDF's classic formats: CDF-1, CDF-2 with 64-bit offsets, and CDF-5 with 64-bit sizes (The NetCDF
/// Classic Format Specification, Unidata; its grammar is followed rule by rule).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "container/format.hpp"
#include "container/part_store.hpp"
#include "store/store.hpp"

namespace plait::container::netcdf {

/// A variable, and where its elements lie: as one row, or where it grows along the record dimension, as one row for
/// each record, with those of other variables between them.
struct Variable {
  Member member;
  Rows rows;
};

struct Header {
  std::vector<Variable> variables;  ///< by ascending offset
  ArrayAttributes attributes;       ///< of the whole file
  std::vector<GroupDimension> dimensions;
};

/// errors  kSystem: not of these formats, or a damaged header, and at which byte; variables that overlap.
/// cost    In the order of the header's length.
Header read_header(store::Store& store, const std::string& file);

}  // namespace plait::container::netcdf
