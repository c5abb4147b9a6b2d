/// Fill values, the values of elements that have not been written, in the notation of JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace plait::container::zarr {

/// Encodes a fill value as the bytes of one element; the result is empty if elements of the type cannot have this
/// value.
/// dtype: the type in the notation of .npy headers. The value is a JSON number, or a JSON string for NaN and
/// infinities. For texts, opaque bytes and records the value is a string with the hexadecimal digits of the element, as
/// in `0x6162`; missing bytes at the end of texts and opaque bytes are zero. A time is a number of units, or `NaT`.
std::vector<std::byte> encode_fill(const nlohmann::json& value, const std::string& dtype);

/// Encodes a text as an element of a dtype such as `|S5` or `<U5`; the result is empty if the text is too long or, for
/// U, not UTF-8.
std::vector<std::byte> encode_text_element(std::string_view text, const std::string& dtype);

/// Parses FileOptions::fill_value of texts of any length, a JSON string such as `"none"`. Returns the empty text if
/// `notation` is empty.  path: the name of the array in errors.
/// errors  kArgument: it is not a string.
std::string parse_text_fill(const std::string& path, const std::string& notation);

/// Parses FileOptions::fill_value of other elements. Returns JSON for encode_fill(). Texts are JSON strings, as in
/// `"ab"`.
/// errors  kArgument: elements of that dtype cannot have the value.
nlohmann::json parse_fill_value(const std::string& path, const std::string& notation, const std::string& dtype);

}  // namespace plait::container::zarr
