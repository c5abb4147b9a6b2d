#include "container/zarr/new_array.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "codec/codecs.hpp"
#include "container/array_type.hpp"
#include "container/attributes.hpp"
#include "container/attributes_json.hpp"
#include "container/fill_value.hpp"
#include "container/format_registry.hpp"
#include "container/npy/encoding.hpp"
#include "container/npy/record_type.hpp"
#include "container/zarr/elements/element_types.hpp"
#include "container/zarr/elements/fill_json.hpp"
#include "container/zarr/metadata.hpp"
#include "container/zarr/target.hpp"
#include "container/zarr/texts/text_types.hpp"
#include "container/zarr/zarr_attributes.hpp"
#include "store/objects/object_url.hpp"

namespace plait::container::zarr {

namespace {

using base::text;
using OrderedJson = nlohmann::ordered_json;

void check_shape(const std::string& path, const char* what, const Extents& given, const Extents& array) {
  if (given.size() == array.size() && std::ranges::all_of(given, [](std::int64_t size) { return size > 0; })) return;
  base::throw_argument_error(path, ": ", what, " of ", shape_to_string(given), " do not fit an array ",
                             shape_to_string(array), "; give a size of 1 or more for each dimension");
}

/// Returns an extension object of Zarr 3, such as a codec: its name, and its configuration.
OrderedJson named_configuration(const char* name, OrderedJson configuration) {
  return {{"name", name}, {"configuration", std::move(configuration)}};
}

/// Returns the codecs that encode a chunk.
OrderedJson make_codecs(const ArrayType& type, const std::string& codec) {
  OrderedJson codecs = OrderedJson::array();
  if (type.order == Order::kFortran && type.shape.size() > 1) {
    OrderedJson reversed = OrderedJson::array();
    for (std::size_t d = type.shape.size(); d-- > 0;) reversed.push_back(d);
    codecs.push_back(named_configuration("transpose", {{"order", std::move(reversed)}}));
  }
  if (type.has_texts())
    codecs.push_back({{"name", "vlen-utf8"}});
  else if (has_byte_order(type.dtype))
    codecs.push_back(named_configuration("bytes", {{"endian", type.dtype[0] == '>' ? "big" : "little"}}));
  else
    codecs.push_back({{"name", "bytes"}});
  const codec::Spec spec = codec::parse_spec(codec.empty() ? "none" : codec);
  if (spec.name == "zlib")
    base::throw_argument_error("codec \"zlib\" is none of Zarr's version 3; use \"gzip\", which packs alike");
  if (spec.name == "gzip") codecs.push_back(named_configuration("gzip", {{"level", spec.level}}));
  if (spec.name == "zstd") codecs.push_back(named_configuration("zstd", {{"level", spec.level}, {"checksum", false}}));
  if (const auto compressor = spec.blosc_compressor())
    codecs.push_back(named_configuration("blosc", {{"typesize", type.has_texts() ? 1 : type.element_bytes},
                                                   {"cname", *compressor},
                                                   {"clevel", spec.level},
                                                   {"shuffle", "shuffle"},
                                                   {"blocksize", 0}}));
  return codecs;
}

/// Returns the fill value of texts.  errors  kArgument: the given one is not a text.
OrderedJson make_text_fill_json(const std::string& path, const std::string& given) {
  return marked_text(parse_text_fill(path, given));
}

/// Returns the list of dimension names.  errors  kArgument: their number differs from that of the dimensions.
OrderedJson make_names_json(const std::string& path, const FileOptions& options, std::size_t dimensions) {
  OrderedJson names = OrderedJson::array();
  for (const std::string& dimension : options.dimension_names) {
    if (!npy::is_utf8(dimension))
      base::throw_argument_error(path, ": the name of a dimension is not UTF-8; give it another one");
    names.push_back(dimension.empty() ? OrderedJson(nullptr) : OrderedJson(marked_text(dimension)));
  }
  if (names.size() != dimensions)
    base::throw_argument_error(path, ": ", names.size(), " names were given for ", dimensions,
                               " dimensions; give one for each, or none at all");
  return names;
}

/// Returns the compressor of version 2, as numcodecs names it.
OrderedJson make_compressor(const std::string& codec) {
  const codec::Spec spec = codec::parse_spec(codec.empty() ? "none" : codec);
  if (const auto compressor = spec.blosc_compressor())
    return {{"id", "blosc"}, {"cname", *compressor}, {"clevel", spec.level}, {"shuffle", 1}, {"blocksize", 0}};
  if (spec.none()) return nullptr;
  return {{"id", spec.name}, {"level", spec.level}};
}

/// Checks the shape of shards, and returns the list of codecs of the shards, which contains those of the chunks.
OrderedJson make_shards(const std::string& path, const FileOptions& options, const NewContent& content,
                        OrderedJson codecs) {
  const Extents& grid = *options.shard;
  const Extents& chunk = *content.chunk;
  check_shape(path, "shards", grid, content.type.shape);
  if (!options.chunk)
    base::throw_argument_error(path, ": shards were given without chunks; give the shape of the chunks in them");
  for (std::size_t d = 0; d < grid.size(); ++d)
    if (grid[d] % chunk[d] != 0)
      base::throw_argument_error(path, ": shards of ", shape_to_string(grid), " are not made of whole chunks of ",
                                 shape_to_string(chunk), "; give multiples of these sizes");
  OrderedJson index = OrderedJson::array({named_configuration("bytes", {{"endian", "little"}}), {{"name", "crc32c"}}});
  return OrderedJson::array({named_configuration("sharding_indexed", {{"chunk_shape", chunk},
                                                                      {"codecs", std::move(codecs)},
                                                                      {"index_codecs", std::move(index)},
                                                                      {"index_location", "end"}})});
}

OrderedJson make_metadata_3(const std::string& path, const FileOptions& options, const NewContent& content) {
  const bool has_texts = content.type.has_texts();
  OrderedJson data_type = has_texts ? OrderedJson(kTextName) : data_type_json(content.type.dtype, path);
  OrderedJson codecs = make_codecs(content.type, options.codec);
  if (options.shard) codecs = make_shards(path, options, content, std::move(codecs));
  OrderedJson root{{"zarr_format", 3}, {"node_type", "array"}, {"shape", content.type.shape}};
  root["data_type"] = std::move(data_type);
  root["chunk_grid"] = named_configuration("regular", {{"chunk_shape", options.shard.value_or(*content.chunk)}});
  root["chunk_key_encoding"] = named_configuration("default", {{"separator", "/"}});
  root["fill_value"] = has_texts ? make_text_fill_json(path, options.fill_value)
                                 : fill_json(path, options.fill_value, content.type.dtype);
  root["codecs"] = std::move(codecs);
  root["attributes"] = make_attributes_object(options.attributes, path);
  if (!options.dimension_names.empty())
    root["dimension_names"] = make_names_json(path, options, content.type.shape.size());
  return root;
}

/// Returns the attribute that states the value of missing elements, if it is a number that the array's elements can
/// have. In version 2 xarray uses the array's fill value as that value.
const ArrayAttribute* find_missing_value(const FileOptions& options, const std::string& dtype) {
  const ArrayAttribute* const fill = find_attribute(options.attributes, kFillAttribute);
  const bool is_number = fill != nullptr && !fill->is_texts() && !fill->is_json() && value_count(*fill) == 1 &&
                         std::string_view("biuf").find(dtype_kind(dtype)) != std::string_view::npos;
  return is_number && !encode_fill(number_to_json(*fill), dtype).empty() ? fill : nullptr;
}

/// Returns the fill value of version 2. It is null if none is stated, because xarray interprets elements with the fill
/// value as missing. Times and records get a value, because zarr-python reads null as NaT in times, and as the digit 0
/// in the texts of records.
OrderedJson make_fill_value_2(const std::string& path, const FileOptions& options, const std::string& dtype) {
  if (const ArrayAttribute* const fill = find_missing_value(options, dtype)) return number_to_json(*fill);
  const char kind = dtype_kind(dtype);
  const bool needs_value = kind == 'M' || kind == 'm' || npy::is_record(dtype);
  if (!needs_value && options.fill_value.empty()) return nullptr;
  return fill_json(path, options.fill_value, dtype);
}

OrderedJson make_metadata_2(const std::string& path, const FileOptions& options, const NewContent& content) {
  if (options.shard)
    base::throw_argument_error(path, ": Zarr's version 2 has no shards; leave them out, or write version 3 (zarr:)");
  OrderedJson root{{"zarr_format", 2}, {"shape", content.type.shape}, {"chunks", *content.chunk}};
  const bool has_texts = content.type.has_texts();
  root["dtype"] = has_texts ? OrderedJson("|O") : dtype_json(content.type.dtype, path);
  root["compressor"] = make_compressor(options.codec);
  root["fill_value"] =
      has_texts ? make_text_fill_json(path, options.fill_value) : make_fill_value_2(path, options, content.type.dtype);
  root["order"] = content.type.order == Order::kFortran ? "F" : "C";
  root["filters"] = has_texts ? OrderedJson::array({{{"id", "vlen-utf8"}}}) : OrderedJson(nullptr);
  root["dimension_separator"] = ".";
  return root;
}

/// Returns the `.zattrs` of an array, in which xarray has the names of its dimensions.
std::string make_attributes_2(const std::string& path, const FileOptions& options, const NewContent& content) {
  ArrayAttributes attributes = options.attributes;
  if (find_missing_value(options, content.type.dtype) != nullptr)
    std::erase_if(attributes, [](const ArrayAttribute& attribute) { return attribute.name == kFillAttribute; });
  OrderedJson object = make_attributes_object(attributes, path);
  if (!options.dimension_names.empty()) {
    OrderedJson names = make_names_json(path, options, content.type.shape.size());
    for (OrderedJson& name : names)
      if (name.is_null()) name = "";
    object[std::string(kDimensionsAttribute)] = std::move(names);
  }
  return json_text(object, 2) + '\n';
}

/// Adds the metadata of the groups in `options`, and in version 2 the attributes of the array, to `content`.
void add_groups(const std::string& path, const FileOptions& options, Version version, NewContent& content) {
  const std::string own(strip_slashes(array_name(path).array.value_or("")));  // the name of the array
  if (!options.groups.empty() && own.empty())
    base::throw_argument_error(
        path,
        ": attributes of groups were given, but the new array would be the root of the hierarchy, which then has no "
        "groups; name the array, as in data.zarr::/array, or leave them out");
  for (const GroupAttributes& group : options.groups) {
    if (!group.group.empty() && group.group == own)
      base::throw_argument_error(
          path, ": attributes of a group of that name were given, but it is to be an array; rename one of them");
    content.groups[group.group] = make_group_metadata(group.attributes, text(path, ", group /", group.group), version);
  }
  if (version == Version::k2) content.groups[own] = make_attributes_2(path, options, content);
}

}  // namespace

Extents default_chunk(const ArrayType& type, std::int64_t bytes) {
  const std::size_t dimensions = type.shape.size();
  Extents chunk(dimensions, 1);
  std::int64_t capacity = std::max<std::int64_t>(bytes / std::max<std::int64_t>(type.element_bytes, 1), 1);
  for (std::size_t i = dimensions; i-- > 0;) {
    const std::size_t d = type.order == Order::kC ? i : dimensions - 1 - i;
    const std::int64_t size = std::max<std::int64_t>(type.shape[d], 1);
    // Divide the dimension into nearly equal parts, so that the last one is not much smaller than the others.
    chunk[d] = base::ceil_divide(size, base::ceil_divide(size, std::min(size, capacity)));
    capacity /= chunk[d];
    if (capacity < 2) break;
  }
  return chunk;
}

NewContent new_array(const std::string& path, const FileOptions& options, Version version) {
  if (options.several)
    base::throw_argument_error(
        path,
        ": a Zarr array states what it is, but is opened for several raw arrays; use a name without "
        "that ending");
  NewContent content;
  static_cast<ArrayProperties&>(content) = options.properties();
  content.type = make_array_type(options, path, /*is_new=*/true);
  content.chunk = options.chunk.value_or(default_chunk(content.type));
  check_shape(path, "chunks", *content.chunk, content.type.shape);
  const OrderedJson root =
      version == Version::k2 ? make_metadata_2(path, options, content) : make_metadata_3(path, options, content);
  const std::string metadata = json_text(root, 2) + '\n';
  add_groups(path, options, version, content);
  // Parse the metadata, so that no array is created that cannot be opened.
  const Metadata read = parse_metadata(metadata, path);
  read.check_codecs(path);
  content.type.dtype = read.type.dtype;
  content.type.order = read.type.order;
  content.whole_chunks = !read.has_no_codecs() || store::is_url(path);
  const auto* bytes = reinterpret_cast<const std::byte*>(metadata.data());
  content.head.assign(bytes, bytes + metadata.size());
  content.file_bytes = static_cast<std::int64_t>(metadata.size());
  return content;
}

std::string make_group_metadata(const ArrayAttributes& attributes, const std::string& where, Version version) {
  OrderedJson object = make_attributes_object(attributes, where);
  if (version == Version::k3) object = {{"zarr_format", 3}, {"node_type", "group"}, {"attributes", std::move(object)}};
  return json_text(object, 2) + '\n';
}

}  // namespace plait::container::zarr
