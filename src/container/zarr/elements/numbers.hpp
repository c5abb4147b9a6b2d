/// The names of numbers and truth values in version 3.
#pragma once

#include <array>
#include <string_view>

namespace plait::container::zarr {

struct NumberType {
  std::string_view name;   ///< name in version 3
  std::string_view dtype;  ///< type in the notation of .npy files, without the byte order
  bool has_byte_order;     ///< true if the type has a byte order
};

inline constexpr std::array kNumbers{
    NumberType{"bool", "b1", false},     NumberType{"int8", "i1", false},       NumberType{"uint8", "u1", false},
    NumberType{"int16", "i2", true},     NumberType{"uint16", "u2", true},      NumberType{"int32", "i4", true},
    NumberType{"uint32", "u4", true},    NumberType{"int64", "i8", true},       NumberType{"uint64", "u8", true},
    NumberType{"float16", "f2", true},   NumberType{"float32", "f4", true},     NumberType{"float64", "f8", true},
    NumberType{"complex64", "c8", true}, NumberType{"complex128", "c16", true},
};

/// The units of times, which have 8 bytes (numpy.datetime64 and numpy.timedelta64).
inline constexpr std::array<std::string_view, 14> kTimeUnits{"Y",  "M",  "W",  "D",  "h",  "m",  "s",
                                                             "ms", "us", "ns", "ps", "fs", "as", "generic"};

}  // namespace plait::container::zarr
