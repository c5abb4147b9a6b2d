/// Bit layouts of floating-point numbers, in the terms of HDF5.
#pragma once

#include <array>
#include <cstddef>

#include "container/hdf5/versioned_functions.hpp"

namespace plait::container::hdf5 {

/// A bit layout. `sign` and `exponent` are the positions of their lowest bits; the mantissa begins at bit 0.
struct FloatFormat {
  std::size_t bytes, precision, sign, exponent, exponent_bits, mantissa_bits, bias;
  H5T_norm_t norm;
  const char* dtype;
};

/// The formats of IEEE 754, bfloat16 (read as opaque bytes), and the extended format of x86 processors.
inline constexpr std::array kFloatFormats{
    FloatFormat{2, 16, 15, 10, 5, 10, 15, H5T_NORM_IMPLIED, "f2"},
    FloatFormat{4, 32, 31, 23, 8, 23, 127, H5T_NORM_IMPLIED, "f4"},
    FloatFormat{8, 64, 63, 52, 11, 52, 1023, H5T_NORM_IMPLIED, "f8"},
    FloatFormat{2, 16, 15, 7, 8, 7, 127, H5T_NORM_IMPLIED, "V2"},
    FloatFormat{16, 80, 79, 64, 15, 64, 16383, H5T_NORM_NONE, "f16"},
};

}  // namespace plait::container::hdf5
