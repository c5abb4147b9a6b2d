/// The codecs of an array as its metadata lists them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "container/zarr/document.hpp"
#include "container/zarr/metadata.hpp"

namespace plait::container::zarr {

/// Of version 3: what packs chunks, how they are transposed, whether they lie in shards, into `found`, which has shape
/// and chunk already.  Returns whether elements have their least byte first.
/// errors  As parse_metadata().
bool read_codecs(const Document& document, const nlohmann::json& codecs, Metadata& found);

/// Of version 2: `compressor` and `filters`.
void read_compressor(const Document& document, const nlohmann::json& root, Metadata& found);

}  // namespace plait::container::zarr
