// Parsing the codecs of an array.
//
// Version 3 lists codecs in the order of encoding: any number of transpose, one bytes or sharding_indexed, then
// compressors. Several transposes are composed into one order of dimensions. If this order is the reverse of the
// array's, chunks are not marked as transposed; the array simply has order F.
// Example: transpose (1, 2, 0), then transpose (2, 0, 1). The first one yields the dimensions 1, 2, 0; the second takes
// its dimensions 2, 0 and 1, which are 0, 1, 2 of the array: the chunk is not transposed.

#include "container/zarr/codecs.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

#include "base/checked.hpp"
#include "codec/codecs.hpp"
#include "container/zarr/texts/text_types.hpp"

namespace plait::container::zarr {

namespace {

using nlohmann::json;

json codec_configuration(const Document& document, const json& codec) {
  const auto found = codec.find("configuration");
  if (found == codec.end() || found->is_null()) return json::object();
  if (!found->is_object()) document.throw_damaged("the configuration of a codec is ", excerpt(*found));
  return *found;
}

/// Returns an integer parameter of a codec; the default if it is missing or out of range.
int get_int(const json& object, const char* name, int default_value) {
  const auto found = object.find(name);
  const bool fits = found != object.end() && found->is_number_integer() && *found >= -(1 << 20) && *found <= 1 << 20;
  return fits ? found->get<int>() : default_value;
}

/// Returns a text parameter of a codec; the default if it is missing.
std::string get_string(const json& object, const char* name, const char* default_value) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : default_value;
}

/// Makes a codec that compresses bytes; nullptr if the name is not that of such a codec. configuration: its parameters,
/// such as the level, in the notation of either version.
std::shared_ptr<const codec::Codec> make_compressor(const std::string& name, const json& configuration,
                                                    std::int64_t element) {
  constexpr int kMaxDeflate = 9;
  if (name == "gzip") return codec::gzip(std::clamp(get_int(configuration, "level", 5), 0, kMaxDeflate));
  if (name == "zlib") return codec::zlib(std::clamp(get_int(configuration, "level", 1), 0, kMaxDeflate));
  if (name == "zstd") {
    const auto sum = configuration.find("checksum");
    return codec::zstd(get_int(configuration, "level", 0), sum != configuration.end() && *sum == true);
  }
  if (name == "crc32c") return codec::crc32c();
  if (name != "blosc") return nullptr;
  codec::BloscOptions options;
  options.compressor = get_string(configuration, "cname", "lz4");
  options.level = std::clamp(get_int(configuration, "clevel", 5), 0, kMaxDeflate);
  options.element_bytes = get_int(configuration, "typesize", static_cast<int>(element));
  // The shuffle of blosc is 0 (none), 1 (bytes) or 2 (bits). Version 3 has names for it; version 2 has the numbers, and
  // -1 for the default of the element type.
  const std::string named = get_string(configuration, "shuffle", "");
  const int numbered = get_int(configuration, "shuffle", 1);
  options.shuffle = named == "noshuffle"    ? 0
                    : named == "shuffle"    ? 1
                    : named == "bitshuffle" ? 2
                    : numbered == -1        ? (element == 1 ? 2 : 1)
                                            : std::clamp(numbered, 0, 2);
  return codec::blosc(options);
}

std::int64_t codec_element_bytes(const Metadata& metadata) {
  return std::max<std::int64_t>(metadata.type.element_bytes, 1);
}

/// Reads a list of codecs into the metadata.
class CodecReader {
 public:
  CodecReader(const Document& document, Metadata& metadata) : document_(document), metadata_(metadata) {
    order_.resize(metadata.chunk.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }

  /// Reads a list of codecs. in_shard: true for the codecs of the chunks in a shard.
  void read(const json& codecs, bool in_shard) {
    if (!codecs.is_array() || codecs.empty()) document_.throw_damaged("\"codecs\" is no list with codecs");
    std::vector<std::shared_ptr<const codec::Codec>> compressors;
    bool bytes = false;
    for (const json& codec : codecs) {
      if (!codec.is_object()) document_.throw_damaged("a codec is ", excerpt(codec), " instead of an object");
      const std::string name = document_.get_string(codec, "name");
      const json configuration = codec_configuration(document_, codec);
      if (!bytes && name == "transpose") {
        transpose(configuration);
      } else if (!bytes && metadata_.type.has_texts() && is_text_codec(name)) {
        bytes = true;
      } else if (!bytes && name == "bytes" && !metadata_.type.has_texts()) {
        bytes = true;
        read_endian(configuration);
      } else if (!bytes && name == "sharding_indexed") {
        if (in_shard) document_.throw_unsupported("its shards hold shards");
        if (codecs.size() > 1) document_.throw_unsupported("its shards have other codecs beside sharding_indexed");
        return shard(configuration);
      } else {
        std::shared_ptr<const codec::Codec> compressor =
            bytes ? make_compressor(name, configuration, codec_element_bytes(metadata_)) : nullptr;
        if (!compressor) document_.throw_unsupported("its chunks have the codec ", name);
        compressors.push_back(std::move(compressor));
      }
    }
    if (!bytes)
      document_.throw_damaged("\"codecs\" has no codec ",
                              metadata_.type.has_texts() ? "vlen-utf8 or vlen-bytes" : "bytes");
    metadata_.codecs = codec::Chain(std::move(compressors));
  }

  /// Stores the resulting order of the dimensions.
  void finish() {
    if (std::ranges::is_sorted(order_)) return;
    if (std::ranges::is_sorted(order_, std::ranges::greater{}))
      metadata_.type.order = Order::kFortran;
    else
      metadata_.stored_order = order_;
  }
  bool is_little_endian() const { return is_little_endian_; }

 private:
  void read_endian(const json& configuration) {
    if (!configuration.contains("endian")) return;
    const std::string endian = document_.get_string(configuration, "endian");
    if (endian != "little" && endian != "big") document_.throw_damaged("\"endian\" is ", endian);
    is_little_endian_ = endian == "little";
  }

  void transpose(const json& configuration) {
    const Extents order = document_.get_extents(configuration, "order", 0);
    std::vector<std::size_t> next;
    for (const std::int64_t dimension : order)
      if (dimension < static_cast<std::int64_t>(order_.size())) next.push_back(static_cast<std::size_t>(dimension));
    std::vector<std::size_t> sorted = next;
    std::ranges::sort(sorted);
    if (order.size() != order_.size() || sorted.size() != order.size() ||
        std::ranges::adjacent_find(sorted) != sorted.end())
      document_.throw_damaged("\"order\" of the codec transpose is ", excerpt(configuration["order"]),
                              ", which does not have each of ", order_.size(), " dimensions once");
    for (std::size_t& dimension : next) dimension = order_[dimension];
    order_ = std::move(next);
  }

  void shard(const json& configuration) {
    Shards shards;
    shards.shape = metadata_.chunk;
    metadata_.chunk = document_.get_extents(configuration, "chunk_shape", 1);
    if (metadata_.chunk.size() != shards.shape.size())
      document_.throw_damaged("shards have ", shards.shape.size(), " dimensions, but the chunks in them ",
                              metadata_.chunk.size());
    for (std::size_t d = 0; d < metadata_.chunk.size(); ++d) {
      if (shards.shape[d] % metadata_.chunk[d] != 0)
        document_.throw_damaged("shards of ", shape_to_string(shards.shape), " are not made of whole chunks of ",
                                shape_to_string(metadata_.chunk));
      shards.chunks.push_back(shards.shape[d] / metadata_.chunk[d]);
      if (__builtin_mul_overflow(shards.count, shards.chunks[d], &shards.count) || shards.count > kMaxInShard)
        document_.throw_unsupported("its shards hold more than ", kMaxInShard, " chunks");
    }
    const std::string location = get_string(configuration, "index_location", "end");
    if (location != "end" && location != "start") document_.throw_damaged("\"index_location\" is ", location);
    shards.index_at_end = location == "end";
    read_index(document_.get_member(configuration, "index_codecs"), shards);
    const json inner = document_.get_member(configuration, "codecs");
    metadata_.shards = std::move(shards);
    read(inner, /*in_shard=*/true);
  }

  void read_index(const json& codecs, Shards& shards) {
    if (!codecs.is_array()) document_.throw_damaged("\"index_codecs\" is ", excerpt(codecs));
    std::vector<std::shared_ptr<const codec::Codec>> compressors;
    bool bytes = false;
    for (const json& codec : codecs) {
      const std::string name = document_.get_string(codec, "name");
      const json configuration = codec_configuration(document_, codec);
      if (!bytes && name == "bytes" && get_string(configuration, "endian", "little") == "little")
        bytes = true;
      else if (bytes && name == "crc32c")
        compressors.push_back(codec::crc32c());
      else
        document_.throw_unsupported("the indices of its shards have the codec ", name, " ", excerpt(configuration));
    }
    if (!bytes) document_.throw_damaged("\"index_codecs\" has no codec bytes");
    shards.index = codec::Chain(std::move(compressors));
    shards.index_bytes = static_cast<std::int64_t>(
        shards.index.fixed_encoded_bytes(static_cast<std::size_t>(16 * shards.count)).value());
  }

  static constexpr std::int64_t kMaxInShard = std::int64_t{1} << 24;  // an index of 256 MiB

  const Document& document_;
  Metadata& metadata_;
  std::vector<std::size_t> order_;
  bool is_little_endian_ = true;
};

}  // namespace

bool read_codecs(const Document& document, const json& codecs, Metadata& metadata) {
  CodecReader reader(document, metadata);
  reader.read(codecs, /*in_shard=*/false);
  reader.finish();
  return reader.is_little_endian();
}

void read_compressor(const Document& document, const json& root, Metadata& metadata) {
  // has_text_filter() has already checked the filter of texts.
  const auto filters = root.find("filters");
  if (!metadata.type.has_texts() && filters != root.end() && !filters->is_null() && !filters->empty())
    document.throw_unsupported("its chunks have the filters ", excerpt(*filters));
  const json& compressor = document.get_member(root, "compressor");
  if (compressor.is_null()) return;
  if (!compressor.is_object()) document.throw_damaged("\"compressor\" is ", excerpt(compressor));
  const std::string name = document.get_string(compressor, "id");
  const auto chunk_codec =
      name == "crc32c" ? nullptr : make_compressor(name, compressor, codec_element_bytes(metadata));
  if (!chunk_codec) document.throw_unsupported("its chunks have the codec ", name);
  metadata.codecs = codec::Chain({chunk_codec});
}

}  // namespace plait::container::zarr
