/// The types of elements that both Zarr and .npy files have.
#pragma once

#include <array>
#include <string_view>

namespace plait::container::zarr {

struct ElementType {
  std::string_view name;   ///< name in version 3
  std::string_view dtype;  ///< type in the notation of .npy files, without the byte order
  bool ordered;            ///< true if the type has a byte order
};

inline constexpr std::array kTypes{
    ElementType{"bool", "b1", false},     ElementType{"int8", "i1", false},       ElementType{"uint8", "u1", false},
    ElementType{"int16", "i2", true},     ElementType{"uint16", "u2", true},      ElementType{"int32", "i4", true},
    ElementType{"uint32", "u4", true},    ElementType{"int64", "i8", true},       ElementType{"uint64", "u8", true},
    ElementType{"float16", "f2", true},   ElementType{"float32", "f4", true},     ElementType{"float64", "f8", true},
    ElementType{"complex64", "c8", true}, ElementType{"complex128", "c16", true},
};

/// Texts of any length, or bytes of any length that are texts. Their bytes have no order.
inline constexpr ElementType kTextType{"string", "text", false};

/// Returns true for the names of texts and bytes of any length in version 3.
inline bool is_text_name(std::string_view name) {
  return name == kTextType.name || name == "variable_length_bytes" || name == "bytes";
}
/// Returns true for the codecs of texts and bytes of any length.
inline bool is_text_codec(std::string_view name) { return name == "vlen-utf8" || name == "vlen-bytes"; }

}  // namespace plait::container::zarr
