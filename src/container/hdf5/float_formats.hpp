/// Floating-point numbers by their bits, as HDF5 describes them.
#pragma once

#include <array>
#include <cstddef>

namespace plait::container::hdf5 {

/// Where sign and exponent begin, counted from the lowest bit; the mantissa is below them.
struct FloatFormat {
  std::size_t bytes, precision, sign, exponent, exponent_bits, mantissa_bits, bias;
  int norm;  ///< kImpliedBit, kNoImpliedBit
  const char* dtype;
};

inline constexpr int kImpliedBit = 0;    // H5T_NORM_IMPLIED
inline constexpr int kNoImpliedBit = 2;  // H5T_NORM_NONE

/// IEEE 754's, bfloat16 as bytes, and the extended one of x86 processors.
inline constexpr std::array kFloatFormats{
    FloatFormat{2, 16, 15, 10, 5, 10, 15, kImpliedBit, "f2"},
    FloatFormat{4, 32, 31, 23, 8, 23, 127, kImpliedBit, "f4"},
    FloatFormat{8, 64, 63, 52, 11, 52, 1023, kImpliedBit, "f8"},
    FloatFormat{2, 16, 15, 7, 8, 7, 127, kImpliedBit, "V2"},
    FloatFormat{16, 80, 79, 64, 15, 64, 16383, kNoImpliedBit, "f16"},
};

}  // namespace plait::container::hdf5
