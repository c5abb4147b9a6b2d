// Parsing the codecs of an array.
//
// Version 3 lists codecs in the order of encoding: any number of transpose, one bytes or sharding_indexed, then
// compressors. Several transposes are composed into one order of dimensions. If this order is reversed, the array
// simply has order F.
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

int number(const json& of, const char* name, int usual) {
  const auto found = of.find(name);
  const bool fits = found != of.end() && found->is_number_integer() && *found >= -(1 << 20) && *found <= 1 << 20;
  return fits ? found->get<int>() : usual;
}

std::string word(const json& of, const char* name, const char* usual) {
  const auto found = of.find(name);
  return found != of.end() && found->is_string() ? found->get<std::string>() : usual;
}

/// Makes a codec that compresses bytes; nullptr if the name is not that of such a codec. configuration: its parameters,
/// such as the level, in the notation of either version.
std::shared_ptr<const codec::Codec> packer(const std::string& name, const json& configuration, std::int64_t element) {
  constexpr int kMaxDeflate = 9;
  if (name == "gzip") return codec::gzip(std::clamp(number(configuration, "level", 5), 0, kMaxDeflate));
  if (name == "zlib") return codec::zlib(std::clamp(number(configuration, "level", 1), 0, kMaxDeflate));
  if (name == "zstd") {
    const auto sum = configuration.find("checksum");
    return codec::zstd(number(configuration, "level", 0), sum != configuration.end() && *sum == true);
  }
  if (name == "crc32c") return codec::crc32c();
  if (name != "blosc") return nullptr;
  codec::BloscOptions options;
  options.compressor = word(configuration, "cname", "lz4");
  options.level = std::clamp(number(configuration, "clevel", 5), 0, kMaxDeflate);
  options.element_bytes = number(configuration, "typesize", static_cast<int>(element));
  // Version 3 has names; version 2 has numbers, and -1 for the default of the element type.
  const std::string named = word(configuration, "shuffle", "");
  const int numbered = number(configuration, "shuffle", 1);
  options.shuffle = named == "noshuffle"    ? 0
                    : named == "shuffle"    ? 1
                    : named == "bitshuffle" ? 2
                    : numbered == -1        ? (element == 1 ? 2 : 1)
                                            : std::clamp(numbered, 0, 2);
  return codec::blosc(options);
}

std::int64_t codec_element_bytes(const Metadata& found) { return std::max<std::int64_t>(found.type.element_bytes, 1); }

class Codecs {
 public:
  Codecs(const Document& document, Metadata& found) : document_(document), found_(found) {
    order_.resize(found.chunk.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }

  void read(const json& codecs, bool in_shard) {
    if (!codecs.is_array() || codecs.empty()) document_.throw_damaged("\"codecs\" is no list with codecs");
    std::vector<std::shared_ptr<const codec::Codec>> packers;
    bool bytes = false;
    for (const json& codec : codecs) {
      if (!codec.is_object()) document_.throw_damaged("a codec is ", excerpt(codec), " instead of an object");
      const std::string name = document_.string(codec, "name");
      const json configuration = codec_configuration(document_, codec);
      if (!bytes && name == "transpose") {
        transpose(configuration);
      } else if (!bytes && found_.type.has_texts() && is_text_codec(name)) {
        bytes = true;
      } else if (!bytes && name == "bytes" && !found_.type.has_texts()) {
        bytes = true;
        read_endian(configuration);
      } else if (!bytes && name == "sharding_indexed") {
        if (in_shard) document_.throw_unsupported("its shards hold shards");
        if (codecs.size() > 1) document_.throw_unsupported("its shards have other codecs beside sharding_indexed");
        return shard(configuration);
      } else {
        std::shared_ptr<const codec::Codec> one =
            bytes ? packer(name, configuration, codec_element_bytes(found_)) : nullptr;
        if (!one) document_.throw_unsupported("its chunks have the codec ", name);
        packers.push_back(std::move(one));
      }
    }
    if (!bytes)
      document_.throw_damaged("\"codecs\" has no codec ",
                              found_.type.has_texts() ? "vlen-utf8 or vlen-bytes" : "bytes");
    found_.packing = codec::Chain(std::move(packers));
  }

  /// Stores the resulting order of the dimensions.
  void finish() {
    if (std::ranges::is_sorted(order_)) return;
    if (std::ranges::is_sorted(order_, std::ranges::greater{}))
      found_.type.order = Order::kFortran;
    else
      found_.transposed = order_;
  }
  bool little() const { return little_; }

 private:
  void read_endian(const json& configuration) {
    if (!configuration.contains("endian")) return;
    const std::string endian = document_.string(configuration, "endian");
    if (endian != "little" && endian != "big") document_.throw_damaged("\"endian\" is ", endian);
    little_ = endian == "little";
  }

  void transpose(const json& configuration) {
    const Extents order = document_.extents(configuration, "order", 0);
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
    shards.shape = found_.chunk;
    found_.chunk = document_.extents(configuration, "chunk_shape", 1);
    if (found_.chunk.size() != shards.shape.size())
      document_.throw_damaged("shards have ", shards.shape.size(), " dimensions, but the chunks in them ",
                              found_.chunk.size());
    for (std::size_t d = 0; d < found_.chunk.size(); ++d) {
      if (shards.shape[d] % found_.chunk[d] != 0)
        document_.throw_damaged("shards of ", shape_to_string(shards.shape), " are not made of whole chunks of ",
                                shape_to_string(found_.chunk));
      shards.chunks.push_back(shards.shape[d] / found_.chunk[d]);
      if (__builtin_mul_overflow(shards.count, shards.chunks[d], &shards.count) || shards.count > kMaxInShard)
        document_.throw_unsupported("its shards hold more than ", kMaxInShard, " chunks");
    }
    const std::string location = word(configuration, "index_location", "end");
    if (location != "end" && location != "start") document_.throw_damaged("\"index_location\" is ", location);
    shards.index_at_end = location == "end";
    read_index(document_.member(configuration, "index_codecs"), shards);
    const json inner = document_.member(configuration, "codecs");
    found_.shards = std::move(shards);
    read(inner, true);
  }

  void read_index(const json& codecs, Shards& shards) {
    if (!codecs.is_array()) document_.throw_damaged("\"index_codecs\" is ", excerpt(codecs));
    std::vector<std::shared_ptr<const codec::Codec>> packers;
    bool bytes = false;
    for (const json& codec : codecs) {
      const std::string name = document_.string(codec, "name");
      const json configuration = codec_configuration(document_, codec);
      if (!bytes && name == "bytes" && word(configuration, "endian", "little") == "little")
        bytes = true;
      else if (bytes && name == "crc32c")
        packers.push_back(codec::crc32c());
      else
        document_.throw_unsupported("the indices of its shards have the codec ", name, " ", excerpt(configuration));
    }
    if (!bytes) document_.throw_damaged("\"index_codecs\" has no codec bytes");
    shards.index = codec::Chain(std::move(packers));
    shards.index_bytes =
        static_cast<std::int64_t>(shards.index.always_encoded(static_cast<std::size_t>(16 * shards.count)).value());
  }

  static constexpr std::int64_t kMaxInShard = std::int64_t{1} << 24;  // an index of 256 MiB

  const Document& document_;
  Metadata& found_;
  std::vector<std::size_t> order_;
  bool little_ = true;
};

}  // namespace

bool read_codecs(const Document& document, const json& codecs, Metadata& found) {
  Codecs reader(document, found);
  reader.read(codecs, false);
  reader.finish();
  return reader.little();
}

void read_compressor(const Document& document, const json& root, Metadata& found) {
  // has_text_filter() has already checked the filter of texts.
  const auto filters = root.find("filters");
  if (!found.type.has_texts() && filters != root.end() && !filters->is_null() && !filters->empty())
    document.throw_unsupported("its chunks have the filters ", excerpt(*filters));
  const json& compressor = document.member(root, "compressor");
  if (compressor.is_null()) return;
  if (!compressor.is_object()) document.throw_damaged("\"compressor\" is ", excerpt(compressor));
  const std::string name = document.string(compressor, "id");
  const auto chunk_codec = name == "crc32c" ? nullptr : packer(name, compressor, codec_element_bytes(found));
  if (!chunk_codec) document.throw_unsupported("its chunks have the codec ", name);
  found.packing = codec::Chain({chunk_codec});
}

}  // namespace plait::container::zarr
