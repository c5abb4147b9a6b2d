/// Base64 (RFC 4648), the encoding of bytes in Zarr's metadata.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plait::container::zarr {

std::string encode_base64(std::span<const std::byte> bytes);
/// Returns nothing if a letter is not in the alphabet of Base64, or the padding is wrong.
std::optional<std::vector<std::byte>> decode_base64(std::string_view letters);

}  // namespace plait::container::zarr
