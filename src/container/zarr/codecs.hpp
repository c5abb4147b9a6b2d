/// Reads the list of codecs in an array's metadata: compression, transposition and shards.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "container/zarr/document.hpp"
#include "container/zarr/metadata.hpp"

namespace plait::container::zarr {

/// Reads the codecs of version 3 into `found`, which already has shape and chunk: compression, transposition and
/// shards. Returns true if elements are little-endian.
/// errors  Those of parse_metadata().
bool read_codecs(const Document& document, const nlohmann::json& codecs, Metadata& metadata);

/// Reads `compressor` and `filters` of version 2.  errors  Those of parse_metadata().
void read_compressor(const Document& document, const nlohmann::json& root, Metadata& metadata);

}  // namespace plait::container::zarr
