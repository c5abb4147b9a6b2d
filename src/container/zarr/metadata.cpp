#include "container/zarr/metadata.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "container/array_type.hpp"
#include "container/npy/header.hpp"
#include "container/zarr/fill_value.hpp"
#include "plait/error.hpp"

namespace plait::container::zarr {

namespace {

using base::text;
using nlohmann::json;

struct ElementType {
  std::string_view name;
  std::string_view dtype;  ///< without the byte order
  bool ordered;            ///< whether there is one
};

constexpr std::array kTypes{
    ElementType{"bool", "b1", false},     ElementType{"int8", "i1", false},       ElementType{"uint8", "u1", false},
    ElementType{"int16", "i2", true},     ElementType{"uint16", "u2", true},      ElementType{"int32", "i4", true},
    ElementType{"uint32", "u4", true},    ElementType{"int64", "i8", true},       ElementType{"uint64", "u8", true},
    ElementType{"float16", "f2", true},   ElementType{"float32", "f4", true},     ElementType{"float64", "f8", true},
    ElementType{"complex64", "c8", true}, ElementType{"complex128", "c16", true},
};

/// What is nested deeper is no metadata, and would be followed by recursion.
constexpr int kMostNesting = 64;

/// With null for the numbers that JSON does not have, and that Python's writers put into attributes all the same.
std::string strict(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  bool quoted = false;
  for (std::size_t at = 0; at < text.size();) {
    if (quoted && text[at] == '\\' && at + 1 < text.size()) {
      result += text.substr(at, 2);
      at += 2;
      continue;
    }
    if (text[at] == '"') quoted = !quoted;
    std::size_t taken = 0;
    if (!quoted)
      for (const std::string_view word : {"NaN", "Infinity", "-Infinity"})
        if (text.substr(at).starts_with(word)) taken = word.size();
    if (taken > 0) {
      result += "null";
      at += taken;
    } else {
      result += text[at++];
    }
  }
  return result;
}

/// One file of metadata.
class Document {
 public:
  Document(std::string_view text, const std::string& file) : file_(file) {
    try {
      json_ = json::parse(strict(text), [this](int depth, json::parse_event_t /*event*/, const json& /*value*/) {
        if (depth > kMostNesting) damaged("it is nested deeper than ", kMostNesting);
        return true;
      });
    } catch (const json::exception& error) {
      damaged("it is not JSON (", error.what(), ')');
    }
    if (!json_.is_object()) damaged("it is no object");
  }
  const json& root() const { return json_; }
  template <typename... Parts>
  [[noreturn]] void damaged(const Parts&... why) const {
    throw Error(ErrorKind::kSystem, text("cannot open ", file_, " as Zarr: ", why..., "; copy or download it again"),
                EIO);
  }
  template <typename... Parts>
  [[noreturn]] void unsupported(const Parts&... what) const {
    throw Error(ErrorKind::kArgument, text(file_, ": ", what...,
                                           ", which Plait does not read; write the array with the "
                                           "codecs bytes and gzip or zstd, in regular chunks"));
  }
  const json& member(const json& of, const char* name) const {
    const auto found = of.find(name);
    if (found == of.end()) damaged("\"", name, "\" is not there");
    return *found;
  }
  std::string string(const json& of, const char* name) const {
    const json& found = member(of, name);
    if (!found.is_string()) damaged("\"", name, "\" is ", found.dump().substr(0, 60), " instead of a text");
    return found.get<std::string>();
  }
  Extents extents(const json& of, const char* name, std::int64_t least) const {
    const json& found = member(of, name);
    if (!found.is_array()) damaged("\"", name, "\" is ", found.dump().substr(0, 60), " instead of a list");
    if (found.size() > kMaxDimensions)
      damaged("\"", name, "\" has ", found.size(), " dimensions; at most ", kMaxDimensions, " are supported");
    Extents result;
    for (const json& one : found) {
      const bool fits = one.is_number_integer() && (!one.is_number_unsigned() || one.get<std::uint64_t>() <= INT64_MAX);
      if (!fits || one.get<std::int64_t>() < least)
        damaged("\"", name, "\" has ", one.dump().substr(0, 60), ", which is no number from ", least, " to 2^63 - 1");
      result.push_back(one.get<std::int64_t>());
    }
    return result;
  }

 private:
  json json_;
  const std::string& file_;
};

Packing packing_named(const Document& document, const std::string& name) {
  if (name == "gzip") return Packing::kGzip;
  if (name == "zlib") return Packing::kZlib;
  if (name == "zstd") return Packing::kZstd;
  document.unsupported("its chunks have the codec ", name);
}

/// What both versions have in common, once they have been read.
void complete(const Document& document, Metadata& found) {
  ArrayType& type = found.type;
  type.element_bytes = npy::element_bytes_of(type.dtype);
  if (found.chunk.size() != type.shape.size())
    document.damaged("the shape has ", type.shape.size(), " dimensions, but chunks have ", found.chunk.size());
  const auto bytes = bytes_of(found.chunk, type.element_bytes);
  if (!bytes) document.damaged("a chunk has more than 2^63 - 1 bytes");
  found.chunk_bytes = *bytes;
  if (found.packing != Packing::kNone && *bytes > kMostPacked)
    document.unsupported("its chunks have ", *bytes, " bytes and are packed");
  std::int64_t all = *bytes;
  for (std::size_t d = 0; d < type.shape.size(); ++d) {
    found.grid.push_back(base::ceil_divide(type.shape[d], found.chunk[d]));
    if (__builtin_mul_overflow(all, std::max<std::int64_t>(found.grid[d], 1), &all))
      document.damaged("all chunks have more than 2^63 - 1 bytes");
  }
}

void read_codecs(const Document& document, const json& codecs, Metadata& found, bool& little) {
  if (!codecs.is_array() || codecs.empty()) document.damaged("\"codecs\" is no list with codecs");
  bool bytes = false;
  for (const json& codec : codecs) {
    if (!codec.is_object()) document.damaged("a codec is ", codec.dump().substr(0, 60), " instead of an object");
    const std::string name = document.string(codec, "name");
    if (!bytes && name == "bytes") {
      bytes = true;
      const auto told = codec.find("configuration");
      if (told == codec.end() || !told->is_object() || !told->contains("endian")) continue;
      const std::string endian = document.string(*told, "endian");
      if (endian != "little" && endian != "big") document.damaged("\"endian\" is ", endian);
      little = endian == "little";
    } else if (!bytes || found.packing != Packing::kNone) {
      document.unsupported("its chunks have the codec ", name);
    } else {
      found.packing = packing_named(document, name);
    }
  }
  if (!bytes) document.damaged("\"codecs\" has no codec bytes");
}

Metadata parse_3(const Document& document) {
  const json& root = document.root();
  Metadata found;
  found.type.shape = document.extents(root, "shape", 0);
  const json& grid = document.member(root, "chunk_grid");
  if (!grid.is_object() || document.string(grid, "name") != "regular")
    document.unsupported("its chunks have the grid ", grid.dump().substr(0, 60));
  found.chunk = document.extents(document.member(grid, "configuration"), "chunk_shape", 1);
  const json& keys = document.member(root, "chunk_key_encoding");
  const std::string encoding = keys.is_object() ? document.string(keys, "name") : keys.dump();
  if (encoding != "default" && encoding != "v2") document.unsupported("its chunks have names of the kind ", encoding);
  found.separator = encoding == "default" ? '/' : '.';
  if (const auto told = keys.find("configuration"); told != keys.end() && told->contains("separator")) {
    const std::string separator = document.string(*told, "separator");
    if (separator != "/" && separator != ".") document.damaged("\"separator\" is ", separator);
    found.separator = separator[0];
  }
  if (encoding == "default") found.prefix = text('c', found.separator);
  const json& data_type = document.member(root, "data_type");
  if (!data_type.is_string()) document.unsupported("its elements have the type ", data_type.dump().substr(0, 60));
  found.element = data_type.get<std::string>();
  const auto* type = std::ranges::find(kTypes, found.element, &ElementType::name);
  if (type == kTypes.end()) document.unsupported("its elements have the type ", found.element);
  bool little = true;
  read_codecs(document, document.member(root, "codecs"), found, little);
  if (const auto extra = root.find("storage_transformers"); extra != root.end() && !extra->empty())
    document.unsupported("it has storage transformers");
  found.type.dtype = text(!type->ordered ? '|' : little ? '<' : '>', type->dtype);
  complete(document, found);
  found.fill = fill_of(document.member(root, "fill_value"), found.type.dtype);
  return found;
}

Metadata parse_2(const Document& document) {
  const json& root = document.root();
  Metadata found;
  found.type.shape = document.extents(root, "shape", 0);
  found.chunk = document.extents(root, "chunks", 1);
  const json& dtype = document.member(root, "dtype");
  if (!dtype.is_string()) document.unsupported("its elements have the type ", dtype.dump().substr(0, 60));
  found.type.dtype = found.element = dtype.get<std::string>();
  const bool known = std::ranges::any_of(kTypes, [&](const ElementType& type) {
    return found.element.size() > 1 && std::string_view(found.element).substr(1) == type.dtype &&
           std::string_view(type.ordered ? "<>" : "|<>").find(found.element[0]) != std::string_view::npos;
  });
  if (!known) document.unsupported("its elements have the type ", found.element);
  const std::string order = document.string(root, "order");
  if (order != "C" && order != "F") document.damaged("\"order\" is ", order);
  found.type.order = order == "F" ? Order::kFortran : Order::kC;
  found.separator = '.';
  if (root.contains("dimension_separator")) {
    const std::string separator = document.string(root, "dimension_separator");
    if (separator != "/" && separator != ".") document.damaged("\"dimension_separator\" is ", separator);
    found.separator = separator[0];
  }
  if (const auto filters = root.find("filters"); filters != root.end() && !filters->is_null() && !filters->empty())
    document.unsupported("its chunks have the filters ", filters->dump().substr(0, 60));
  if (const json& compressor = document.member(root, "compressor"); !compressor.is_null()) {
    if (!compressor.is_object()) document.damaged("\"compressor\" is ", compressor.dump().substr(0, 60));
    found.packing = packing_named(document, document.string(compressor, "id"));
  }
  complete(document, found);
  const json& fill = document.member(root, "fill_value");
  found.fill = fill_of(fill.is_null() ? json(0) : fill, found.type.dtype);
  return found;
}

}  // namespace

std::string_view words(Packing packing) {
  constexpr std::array<std::string_view, 4> kWords{"not packed", "gzip", "zlib", "zstd"};
  return kWords[static_cast<std::size_t>(packing)];
}

bool is_group(std::string_view text, const std::string& file) {
  const Document document(text, file);
  const auto kind = document.root().find("node_type");
  return kind == document.root().end() ? !document.root().contains("shape") : *kind == "group";
}

Metadata parse_metadata(std::string_view text, const std::string& file) {
  const Document document(text, file);
  const json& version = document.member(document.root(), "zarr_format");
  if (version != 2 && version != 3) document.damaged("\"zarr_format\" is ", version.dump().substr(0, 60));
  Metadata found = version == 3 ? parse_3(document) : parse_2(document);
  if (found.fill.empty())
    document.unsupported("elements without a file have the value ",
                         document.member(document.root(), "fill_value").dump().substr(0, 60));
  return found;
}

}  // namespace plait::container::zarr
