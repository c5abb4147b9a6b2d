/// Fill values, the values of elements that have not been written, in the notation of JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace plait::container::zarr {

/// Encodes a fill value as an element; empty if the type has no such value. dtype: in the notation of .npy headers.
/// Texts, opaque bytes and records are given as the hexadecimal digits of the element, as in `0x6162`; missing bytes at
/// the end of texts and opaque bytes are zero. Times are numbers of their unit, or `NaT`.
std::vector<std::byte> encode_fill(const nlohmann::json& value, const std::string& dtype);

/// Returns a text as an element of a dtype such as `|S5` or `<U5`; empty if it is too long or, for U, not UTF-8.
std::vector<std::byte> text_element(std::string_view text, const std::string& dtype);

/// Returns the fill value of texts of any length, which is a JSON string: `"none"`; empty texts by default.
/// errors  kArgument: it is not a string.
std::string text_fill(const std::string& path, const std::string& notation);

/// Returns the fill value of FileOptions as JSON for encode_fill(). Texts are JSON strings, as in `"ab"`.
/// errors  kArgument: elements of that dtype cannot have it.
nlohmann::json fill_given(const std::string& path, const std::string& notation, const std::string& dtype);

}  // namespace plait::container::zarr
