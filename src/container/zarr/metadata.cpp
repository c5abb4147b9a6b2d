#include "container/zarr/metadata.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/array_type.hpp"
#include "container/npy/npy_header.hpp"
#include "container/zarr/codecs.hpp"
#include "container/zarr/document.hpp"
#include "container/zarr/elements/element_types.hpp"
#include "container/zarr/elements/fill_json.hpp"
#include "container/zarr/texts/text_types.hpp"

namespace plait::container::zarr {

namespace {

using base::text;
using nlohmann::json;

/// The fields of version 3. consolidated_metadata is an extension of zarr-python, which some versions write as null.
constexpr std::array<std::string_view, 11> kArrayFields{
    "zarr_format", "node_type", "shape",      "data_type",       "chunk_grid",          "chunk_key_encoding",
    "fill_value",  "codecs",    "attributes", "dimension_names", "storage_transformers"};
constexpr std::array<std::string_view, 4> kGroupFields{"zarr_format", "node_type", "attributes",
                                                       "consolidated_metadata"};

/// Checks the fields that both versions have, and computes those that follow from them.
void complete_metadata(const Document& document, Metadata& metadata) {
  ArrayType& type = metadata.type;
  if (metadata.chunk.size() != type.shape.size())
    document.throw_damaged("the shape has ", type.shape.size(), " dimensions, but chunks have ", metadata.chunk.size());
  const auto bytes = array_bytes(metadata.chunk, type.element_bytes);
  if (!bytes) document.throw_damaged("a chunk has more than 2^63 - 1 bytes");
  metadata.chunk_bytes = *bytes;
  if (!metadata.has_no_codecs() && *bytes > kMaxCompressed)
    document.throw_unsupported("its chunks have ", *bytes, " bytes and are packed");
  std::int64_t all = *bytes;
  if (metadata.shards && __builtin_mul_overflow(all, metadata.shards->count, &all))
    document.throw_damaged("a shard has more than 2^63 - 1 bytes");
  if (!set_shape(metadata, Extents(type.shape))) document.throw_damaged("all chunks have more than 2^63 - 1 bytes");
}

void read_dimension_names(const Document& document, const json& root, Metadata& metadata) {
  const auto names = root.find("dimension_names");
  if (names == root.end() || names->is_null()) return;
  if (!names->is_array() || names->size() != metadata.type.shape.size())
    document.throw_damaged("\"dimension_names\" is ", excerpt(*names), ", but there are ", metadata.type.shape.size(),
                           " dimensions");
  for (const json& name : *names) {
    if (!name.is_string() && !name.is_null()) document.throw_damaged("\"dimension_names\" has ", excerpt(name));
    metadata.dimension_names.push_back(name.is_string() ? name.get<std::string>() : std::string());
  }
}

void read_chunk_keys(const Document& document, const json& root, Metadata& metadata) {
  const json& keys = document.get_member(root, "chunk_key_encoding");
  const std::string encoding = keys.is_object() ? document.get_string(keys, "name") : keys.dump();
  if (encoding != "default" && encoding != "v2")
    document.throw_unsupported("its chunks have names of the kind ", encoding);
  metadata.separator = encoding == "default" ? '/' : '.';
  if (const auto configuration = keys.find("configuration");
      configuration != keys.end() && configuration->contains("separator")) {
    const std::string separator = document.get_string(*configuration, "separator");
    if (separator != "/" && separator != ".") document.throw_damaged("\"separator\" is ", separator);
    metadata.separator = separator[0];
  }
  if (encoding == "default") metadata.prefix = text('c', metadata.separator);
}

/// Reads the fill value of texts. Version 2 also has null and 0 for the empty text.
void read_text_fill(const Document& document, Metadata& metadata) {
  const json& fill = document.get_member(document.root(), "fill_value");
  if (!metadata.stored_order.empty()) document.throw_unsupported("its chunks of texts are transposed");
  if (fill.is_string())
    metadata.fill_text = fill.get<std::string>();
  else if (!fill.is_null() && fill != 0 && !(fill.is_array() && fill.empty()))
    document.throw_unsupported("its texts have the fill value ", excerpt(fill));
  metadata.fill.assign(static_cast<std::size_t>(ArrayType::kTextBytes), std::byte{0});
}

/// Returns the name of an element type for listings.
std::string element_name(const json& type) {
  if (type.is_string()) return type.get<std::string>();
  const auto name = type.is_object() ? type.find("name") : type.end();
  return name != type.end() && name->is_string() ? name->get<std::string>() : excerpt(type);
}

void set_text_type(Metadata& metadata) {
  metadata.type.dtype = ArrayType::kTexts;
  metadata.type.element_bytes = ArrayType::kTextBytes;
}

void set_dtype(Metadata& metadata, std::string dtype) {
  metadata.type.dtype = std::move(dtype);
  metadata.type.element_bytes = npy::dtype_bytes(metadata.type.dtype);
}

/// Reads the shape first, then the other properties of the array, then its storage, so that `metadata` also describes
/// an array whose storage is not supported.
void parse_version_3(const Document& document, Metadata& metadata) {
  const json& root = document.root();
  metadata.type.shape = document.get_extents(root, "shape", 0);
  read_dimension_names(document, root, metadata);
  const json& type = document.get_member(root, "data_type");
  metadata.element = element_name(type);
  const bool has_texts = is_text_name(metadata.element);
  if (has_texts)
    set_text_type(metadata);
  else
    set_dtype(metadata, read_data_type(document, type, '<'));
  document.check_fields(kArrayFields);
  const json& grid = document.get_member(root, "chunk_grid");
  if (!grid.is_object() || document.get_string(grid, "name") != "regular")
    document.throw_unsupported("its chunks have the grid ", excerpt(grid));
  metadata.chunk = document.get_extents(document.get_member(grid, "configuration"), "chunk_shape", 1);
  read_chunk_keys(document, root, metadata);
  if (metadata.chunk.size() != metadata.type.shape.size())
    document.throw_damaged("the shape has ", metadata.type.shape.size(), " dimensions, but chunks have ",
                           metadata.chunk.size());
  const bool little = read_codecs(document, document.get_member(root, "codecs"), metadata);
  if (const auto extra = root.find("storage_transformers"); extra != root.end() && !extra->empty())
    document.throw_unsupported("it has storage transformers");
  if (!little && !has_texts) metadata.type.dtype = read_data_type(document, type, '>');
  complete_metadata(document, metadata);
  if (metadata.type.has_texts()) return read_text_fill(document, metadata);
  metadata.fill = read_fill(document.get_member(root, "fill_value"), metadata.type.dtype);
}

/// Reads the fill value of version 2, which netcdf-c 4.8 writes as a list of one number. If it is null, zarr-python
/// reads numbers as 0 and times as NaT.
json normalized_fill_value_2(const Document& document, const std::string& dtype) {
  const json& fill = document.get_member(document.root(), "fill_value");
  const char kind = dtype_kind(dtype);
  if (fill.is_null()) return kind == 'M' || kind == 'm' ? json("NaT") : json(0);
  const bool number = std::string_view("biuf").find(kind) != std::string_view::npos;
  return fill.is_array() && fill.size() == 1 && number ? fill.front() : fill;
}

/// Returns true if the only filter is that of texts.
bool has_text_filter(const json& root) {
  const auto filters = root.find("filters");
  if (filters == root.end() || !filters->is_array() || filters->size() != 1 || !filters->front().is_object())
    return false;
  const auto name = filters->front().find("id");
  return name != filters->front().end() && name->is_string() && is_text_codec(name->get<std::string>());
}

void parse_version_2(const Document& document, Metadata& metadata) {
  const json& root = document.root();
  metadata.type.shape = document.get_extents(root, "shape", 0);
  const json& dtype = document.get_member(root, "dtype");
  metadata.element = element_name(dtype);
  if (metadata.element == "|O" && has_text_filter(root))
    set_text_type(metadata);
  else
    set_dtype(metadata, read_dtype(document, dtype));
  metadata.chunk = document.get_extents(root, "chunks", 1);
  const std::string order = document.get_string(root, "order");
  if (order != "C" && order != "F") document.throw_damaged("\"order\" is ", order);
  metadata.type.order = order == "F" ? Order::kFortran : Order::kC;
  metadata.separator = '.';
  if (root.contains("dimension_separator")) {
    const std::string separator = document.get_string(root, "dimension_separator");
    if (separator != "/" && separator != ".") document.throw_damaged("\"dimension_separator\" is ", separator);
    metadata.separator = separator[0];
  }
  read_compressor(document, root, metadata);
  complete_metadata(document, metadata);
  if (metadata.type.has_texts()) return read_text_fill(document, metadata);
  metadata.fill = read_fill(normalized_fill_value_2(document, metadata.type.dtype), metadata.type.dtype);
}

}  // namespace

bool set_shape(Metadata& metadata, const Extents& shape) {
  std::int64_t all = metadata.chunk_bytes;
  if (metadata.shards) all *= metadata.shards->count;  // complete_metadata() has checked that the product fits
  Extents units;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    units.push_back(base::ceil_divide(shape[d], metadata.object_shape()[d]));
    if (__builtin_mul_overflow(all, std::max<std::int64_t>(units[d], 1), &all)) return false;
  }
  metadata.type.shape = shape;
  metadata.grid = std::move(units);
  return true;
}

void Metadata::check_codecs(const std::string& file) const {
  if (const base::Rejection missing = codecs.missing_library()) missing.raise(file, ": ");
}

std::string Metadata::describe() const {
  std::string out = codecs.describe();
  if (!stored_order.empty()) out = codecs.empty() ? "transposed" : text("transposed, ", out);
  return shards ? text(out, ", in shards of ", shape_to_string(shards->shape)) : out;
}

bool is_group(std::string_view text, const std::string& file) {
  const Document document(text, file);
  const json& root = document.root();
  const auto kind = root.find("node_type");
  const bool group = kind == root.end() ? !root.contains("shape") : *kind == "group";
  if (group && root.contains("zarr_format") && root["zarr_format"] == 3) document.check_fields(kGroupFields);
  return group;
}

void parse_metadata(std::string_view text, const std::string& file, Metadata& metadata) {
  const Document document(text, file);
  const json& version = document.get_member(document.root(), "zarr_format");
  if (version != 2 && version != 3) document.throw_damaged("\"zarr_format\" is ", excerpt(version));
  version == 3 ? parse_version_3(document, metadata) : parse_version_2(document, metadata);
  if (metadata.fill.empty())
    document.throw_unsupported("elements without a file have the value ",
                               excerpt(document.get_member(document.root(), "fill_value")));
}

Metadata parse_metadata(std::string_view text, const std::string& file) {
  Metadata metadata;
  parse_metadata(text, file, metadata);
  return metadata;
}

}  // namespace plait::container::zarr
