/// The types of elements that safetensors files name.
#pragma once

#include <array>
#include <string_view>

namespace plait::container::safetensors {

struct ElementType {
  std::string_view name;
  /// Type in the notation of .npy files; opaque bytes if this notation has no such type, empty if the size of an
  /// element is no multiple of 8 bits.
  std::string_view dtype;
  int bits;
};

// An array is written with the first type in this list that has its dtype, so that "|V2" becomes BF16.
inline constexpr std::array kTypes{
    ElementType{"F64", "<f8", 64},        ElementType{"F32", "<f4", 32},
    ElementType{"F16", "<f2", 16},        ElementType{"BF16", "|V2", 16},
    ElementType{"I64", "<i8", 64},        ElementType{"I32", "<i4", 32},
    ElementType{"I16", "<i2", 16},        ElementType{"I8", "|i1", 8},
    ElementType{"U64", "<u8", 64},        ElementType{"U32", "<u4", 32},
    ElementType{"U16", "<u2", 16},        ElementType{"U8", "|u1", 8},
    ElementType{"BOOL", "|b1", 8},        ElementType{"C64", "<c8", 64},
    ElementType{"F8_E4M3", "|V1", 8},     ElementType{"F8_E5M2", "|V1", 8},
    ElementType{"F8_E8M0", "|V1", 8},     ElementType{"F8_E4M3FNUZ", "|V1", 8},
    ElementType{"F8_E5M2FNUZ", "|V1", 8}, ElementType{"F6_E2M3", "", 6},
    ElementType{"F6_E3M2", "", 6},        ElementType{"F4", "", 4},
};

}  // namespace plait::container::safetensors
