/// Fill values in Zarr's metadata.
///
/// Numbers and times are as JSON spells them. Bytes and records are Base64 of the whole element, bytes without the
/// zeros at their end; texts are texts, as zarr-python 3 writes all of them.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace plait::container::zarr {

/// Returns a fill value as an element; empty if elements of that dtype cannot have it.
std::vector<std::byte> read_fill(const nlohmann::json& value, const std::string& dtype);

/// Returns the fill value of a new array. given: FileOptions::fill_value; empty means zero.
/// errors  kArgument: elements of that dtype cannot have it.
nlohmann::ordered_json fill_json(const std::string& path, const std::string& given, const std::string& dtype);

}  // namespace plait::container::zarr
