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

/// Maximum size of a chunk with filters, which is decompressed as a whole.
inline constexpr std::int64_t kMaxFilteredChunkBytes = std::int64_t{2} << 30;

/// Describes a filter, as in `deflate 4`, or `filter 32008 (bitshuffle)` if Plait has no codec for it.
std::string describe_filter(const Filter& filter);
/// Returns the reason why chunks with this filter cannot be decompressed.
base::Rejection filter_rejection(const Filter& filter);
/// Makes the chain of codecs for the filters of a chunk, in their order.
/// filter_mask: bit i is set if filter i is skipped.
/// errors  kArgument: filter_rejection().
codec::Chain make_chain(const std::vector<Filter>& filters, std::uint32_t filter_mask);

/// Returns the filter mask for chunks that Plait writes: bit i is set if Plait decodes filter i but does not encode it.
std::uint32_t decode_only_mask(const std::vector<Filter>& filters);

/// Returns the filters for a codec of FileOptions: `none`, `gzip:5`, `zlib:5` (both are deflate), `zstd:3`, each after
/// `shuffle,` if the bytes of elements are to be reordered first.
/// errors  kArgument: the codec is none of these.
std::vector<Filter> make_filters(std::string_view codec, std::int64_t element_bytes);

/// Describes a chunk by its index in the grid, as in `chunk (4, 2)`.
std::string describe_chunk(const HdfDataset& dataset, std::int64_t number);

}  // namespace plait::container::hdf5
