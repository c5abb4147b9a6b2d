/// Constants of the grammar of netCDF's classic formats (The NetCDF Classic Format Specification, Unidata).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace plait::container::netcdf {

// Tags before the lists in a header.
inline constexpr std::uint64_t kDimensionTag = 10;
inline constexpr std::uint64_t kVariableTag = 11;
inline constexpr std::uint64_t kAttributeTag = 12;

struct ElementType {
  std::string_view name;
  std::string_view dtype;
  std::int64_t bytes;
};

/// Element types in the order of their numbers in files, from 1 on; the last five are those of CDF-5.
inline constexpr std::array kTypes{
    ElementType{"byte", "|i1", 1},  ElementType{"char", "|S1", 1},   ElementType{"short", ">i2", 2},
    ElementType{"int", ">i4", 4},   ElementType{"float", ">f4", 4},  ElementType{"double", ">f8", 8},
    ElementType{"ubyte", "|u1", 1}, ElementType{"ushort", ">u2", 2}, ElementType{"uint", ">u4", 4},
    ElementType{"int64", ">i8", 8}, ElementType{"uint64", ">u8", 8},
};
/// Number of types that CDF-1 and CDF-2 have.
inline constexpr std::size_t kClassicTypes = 6;

}  // namespace plait::container::netcdf
