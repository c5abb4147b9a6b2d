// The filters that Plait knows by their registered identifiers, and the codecs for those that it decodes itself.

#include "container/hdf5/filters.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "codec/codecs.hpp"
#include "container/hdf5/codecs/basic.hpp"
#include "container/hdf5/codecs/lz4.hpp"
#include "container/hdf5/codecs/szip.hpp"

namespace plait::container::hdf5 {

namespace {

using base::text;
using CodecPointer = std::shared_ptr<const codec::Codec>;

// Identifiers of filters.
constexpr std::uint32_t kDeflateFilter = 1;
constexpr std::uint32_t kShuffleFilter = 2;
constexpr std::uint32_t kZstdFilter = 32015;
constexpr std::size_t kFilterMaskBits = 32;

/// A filter, with the identifier that the HDF Group has registered for it.
struct KnownFilter {
  std::uint32_t id;
  std::string_view name;
  /// Makes the codec; nullptr if Plait only has the name of the filter.
  CodecPointer (*codec)(const Filter& filter);
  bool is_decode_only = false;  ///< true if Plait decodes the filter but does not encode it
};

/// Returns a client data value of a filter, or `otherwise` if the file has fewer values.
std::uint32_t filter_value(const Filter& filter, std::size_t number, std::uint32_t otherwise) {
  return number < filter.values.size() ? filter.values[number] : otherwise;
}

/// Makes the codec of Blosc. The values of the filter are two versions, the bytes of an element and of a chunk, the
/// level, the kind of shuffle, and the compressor.
CodecPointer make_blosc(const Filter& filter) {
  constexpr std::array<const char*, 6> kCompressors{"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"};
  codec::BloscOptions options;
  options.element_bytes = static_cast<int>(std::min<std::uint32_t>(filter_value(filter, 2, 1), 255));
  options.level = static_cast<int>(std::min<std::uint32_t>(filter_value(filter, 4, 5), 9));
  options.shuffle = static_cast<int>(std::min<std::uint32_t>(filter_value(filter, 5, 1), 2));
  options.compressor = kCompressors[std::min<std::size_t>(filter_value(filter, 6, 0), kCompressors.size() - 1)];
  return codec::blosc(options);
}

constexpr std::array kKnown{
    KnownFilter{kDeflateFilter, "deflate",
                [](const Filter& filter) {
                  return codec::zlib(static_cast<int>(std::min<std::uint32_t>(filter_value(filter, 0, 6), 9)));
                }},
    KnownFilter{kShuffleFilter, "shuffle",
                [](const Filter& filter) { return shuffle(std::max<std::uint32_t>(filter_value(filter, 0, 1), 1)); }},
    KnownFilter{3, "fletcher32", [](const Filter&) { return fletcher32(); }},
    KnownFilter{4, "szip", [](const Filter& filter) { return szip(filter.values); }, /*is_decode_only=*/true},
    KnownFilter{5, "nbit", nullptr},
    KnownFilter{6, "scaleoffset", nullptr},
    KnownFilter{307, "bzip2", nullptr},
    KnownFilter{32000, "lzf", [](const Filter&) { return lzf(); }, /*is_decode_only=*/true},
    KnownFilter{32001, "blosc", make_blosc},
    KnownFilter{32004, "lz4", [](const Filter&) { return lz4(); }, /*is_decode_only=*/true},
    KnownFilter{32008, "bitshuffle", nullptr},
    KnownFilter{32013, "zfp", nullptr},
    KnownFilter{kZstdFilter, "zstd",
                [](const Filter& filter) {
                  return codec::zstd(static_cast<int>(std::min<std::uint32_t>(filter_value(filter, 0, 3), 22)));
                }},
    KnownFilter{32026, "blosc2", nullptr},
};

/// Returns the entry of a filter in kKnown; nullptr if there is none.
const KnownFilter* find_known(const Filter& filter) {
  const auto* const found = std::ranges::find(kKnown, filter.id, &KnownFilter::id);
  return found == kKnown.end() ? nullptr : found;
}

}  // namespace

std::string describe_filter(const Filter& filter) {
  const KnownFilter* const filter_entry = find_known(filter);
  if (filter_entry == nullptr)
    return text("filter ", filter.id, filter.name.empty() ? "" : " (", filter.name, filter.name.empty() ? "" : ")");
  const bool has_level = filter.id == kDeflateFilter || filter.id == kZstdFilter;
  if (!has_level || filter.values.empty()) return std::string(filter_entry->name);
  return text(filter_entry->name, ' ', filter.values.front());
}

base::Rejection filter_rejection(const Filter& filter) {
  const KnownFilter* const filter_entry = find_known(filter);
  if (filter_entry != nullptr && filter_entry->codec != nullptr) return filter_entry->codec(filter)->missing_library();
  const std::string name = filter_entry != nullptr ? std::string(filter_entry->name) : filter.name;
  return base::Rejection::because(
      "its chunks are packed by filter ", filter.id, name.empty() ? "" : " (", name, name.empty() ? "" : ")",
      ", which Plait does not unpack; copy it by h5repack (with hdf5plugin's filters) to another one: shuffle, "
      "deflate, fletcher32, lzf, szip, lz4, zstd or blosc");
}

codec::Chain make_chain(const std::vector<Filter>& filters, std::uint32_t filter_mask) {
  std::vector<CodecPointer> codecs;
  for (std::size_t i = 0; i < filters.size(); ++i) {
    if (const base::Rejection rejection = filter_rejection(filters[i])) rejection.raise();
    if (i >= kFilterMaskBits || (filter_mask >> i & 1U) == 0)
      codecs.push_back(find_known(filters[i])->codec(filters[i]));
  }
  return codec::Chain(std::move(codecs));
}

std::uint32_t decode_only_mask(const std::vector<Filter>& filters) {
  std::uint32_t mask = 0;
  for (std::size_t i = 0; i < filters.size() && i < kFilterMaskBits; ++i) {
    const KnownFilter* const filter_entry = find_known(filters[i]);
    // The library does not shuffle texts of any length: the filter then has no values, not even the element size.
    const bool is_incomplete = filters[i].id == kShuffleFilter && filters[i].values.empty();
    if (is_incomplete || (filter_entry != nullptr && filter_entry->is_decode_only)) mask |= 1U << i;
  }
  return mask;
}

std::vector<Filter> make_filters(std::string_view codec, std::int64_t element_bytes) {
  constexpr std::string_view kShuffle = "shuffle";
  std::vector<Filter> filters;
  if (codec.starts_with(kShuffle)) {
    codec.remove_prefix(kShuffle.size());
    if (codec.starts_with(',')) codec.remove_prefix(1);
    filters.push_back({kShuffleFilter, {static_cast<std::uint32_t>(element_bytes)}, std::string(kShuffle)});
  }
  if (codec.empty()) return filters;
  const codec::Spec spec = codec::parse_spec(codec);
  if (spec.none()) return filters;
  if (spec.blosc_compressor())
    base::throw_argument_error("codec \"", codec,
                               "\" is none of HDF5's; use \"shuffle,zstd\", which packs alike, or \"gzip\"");
  const auto level = static_cast<std::uint32_t>(spec.level);
  if (spec.name != "zstd")
    filters.push_back({kDeflateFilter, {level}, "deflate"});
  else if (spec.level < 1)
    base::throw_argument_error("codec \"", codec,
                               "\": HDF5's filter has the levels of zstd from 1 on; give one of these");
  else
    filters.push_back({kZstdFilter, {level}, "zstd"});
  return filters;
}

std::string describe_chunk(const HdfDataset& dataset, std::int64_t number) {
  const Extents grid = dataset.grid();
  Extents index(grid.size());
  for (std::size_t d = grid.size(); d-- > 0;) {
    index[d] = number % grid[d];
    number /= grid[d];
  }
  return text("chunk ", base::tuple_text(index));
}

}  // namespace plait::container::hdf5
