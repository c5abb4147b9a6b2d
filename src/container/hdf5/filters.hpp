/// HDF5's filters as codecs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/errors.hpp"
#include "codec/codec.hpp"
#include "container/hdf5/dataset.hpp"

namespace plait::container::hdf5 {

/// A chunk that is packed is unpacked whole.
inline constexpr std::int64_t kMostPacked = std::int64_t{2} << 30;

/// `deflate 4`; `filter 32008 (bitshuffle)` of one that is not known.
std::string filter_words(const Filter& filter);
/// Why chunks with it cannot be unpacked.
base::Rejection filter_rejection(const Filter& filter);
/// Returns the filters that are not left out (bit i: filter i), in their order.  errors  kArgument: filter_rejection().
codec::Chain chain_of(const std::vector<Filter>& filters, std::uint32_t left_out);

/// Of those that Plait only unpacks, for chunks that it writes: bit i, filter i.
std::uint32_t only_unpacked(const std::vector<Filter>& filters);

/// The filters that a codec of FileOptions stands for: `none`, `gzip:5`, `zlib:5` (both are deflate), `zstd:3`, each
/// behind `shuffle,` where bytes of elements are to be reordered first.  errors  kArgument: another one.
std::vector<Filter> filters_of(std::string_view codec, std::int64_t element_bytes);

/// `chunk (4, 2)`, of the index that its number stands for.
std::string chunk_words(const HdfDataset& dataset, std::int64_t number);

}  // namespace plait::container::hdf5
