/// The names of texts of any length in Zarr's metadata.
#pragma once

#include <string_view>

namespace plait::container::zarr {

/// The name of texts of any length in version 3. Bytes of any length are read as texts too.
inline constexpr std::string_view kTextName = "string";

/// Returns true for the names of texts and bytes of any length in version 3.
inline bool is_text_name(std::string_view name) {
  return name == kTextName || name == "variable_length_bytes" || name == "bytes";
}
/// Returns true for the codecs of texts and bytes of any length.
inline bool is_text_codec(std::string_view name) { return name == "vlen-utf8" || name == "vlen-bytes"; }

}  // namespace plait::container::zarr
