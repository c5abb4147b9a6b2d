/// The value of elements that no chunk holds, in the notation of JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace plait::container::zarr {

/// Encodes a fill value as an element; empty if the type has no such value. dtype: in the notation of .npy headers.
/// Strings, opaque bytes and dates are hexadecimal digits of their bytes, as in `0x6162`; the rest of the element is
/// zero. Structured types are the digits of all their bytes.
std::vector<std::byte> encode_fill(const nlohmann::json& value, const std::string& dtype);

/// Returns the fill value of FileOptions as JSON.  errors  kArgument: elements of that dtype cannot have it.
nlohmann::json fill_given(const std::string& path, const std::string& given, const std::string& dtype);

}  // namespace plait::container::zarr
