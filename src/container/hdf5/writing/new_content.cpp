#include "container/hdf5/writing/new_content.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "container/array_type.hpp"
#include "container/attributes.hpp"
#include "container/attributes_json.hpp"
#include "container/fill_value.hpp"
#include "container/hdf5/filters.hpp"
#include "container/hdf5/netcdf4/netcdf_fill.hpp"
#include "container/members.hpp"
#include "container/npy/encoding.hpp"
#include "container/refuse.hpp"
#include "container/registry.hpp"
#include "container/zarr/new_array.hpp"

namespace plait::container::hdf5 {

namespace {

using base::text;

constexpr std::int64_t kUsualChunk = std::int64_t{1} << 20;  // what the library's own cache holds
constexpr std::int64_t kPage = 4096;
constexpr std::int64_t kLine = 64;
constexpr const char* kFillName = "_FillValue";

/// Without the slash in front, which may be left out.
std::string bare(const std::string& name) { return name.starts_with('/') ? name.substr(1) : name; }

std::int64_t rounded(std::int64_t value, std::int64_t unit) {
  return base::checked_add(value, (unit - value % unit) % unit, "bytes of the file");
}

bool has_elements(const ArrayType& type) {
  return !type.shape.empty() && std::ranges::find(type.shape, 0) == type.shape.end();
}

/// The chunk of an array.
Extents new_chunk(const std::string& shown, const std::optional<Extents>& given, const ArrayType& type) {
  Extents chunk = given.value_or(zarr::usual_chunk(type, kUsualChunk));
  if (chunk.size() != type.shape.size() || std::ranges::any_of(chunk, [](std::int64_t size) { return size < 1; }))
    refuse(text(shown, ": chunks of ", shape_to_string(chunk), " do not fit an array ", shape_to_string(type.shape),
                "; give a size of 1 or more for each dimension"));
  for (std::size_t d = 0; d < chunk.size(); ++d) chunk[d] = std::min(chunk[d], type.shape[d]);
  const auto bytes = bytes_of(chunk, type.element_bytes);
  if (!bytes || *bytes > kMostPacked || std::ranges::any_of(chunk, [](std::int64_t size) { return size > UINT32_MAX; }))
    refuse(text(shown, ": chunks of ", shape_to_string(chunk), " have more than ", kMostPacked,
                " bytes; give smaller ones"));
  return chunk;
}

/// `_FillValue` and the fill value are one in netCDF, and of the array's own type.
void join_fill_values(Content& content) {
  const std::string& dtype = content.type.dtype;
  const auto own = std::ranges::find(content.attributes, kFillName, &ArrayAttribute::name);
  if (own != content.attributes.end()) {
    if (count_of(*own) != 1 || std::string_view("biufc").find(own->dtype[1]) == std::string_view::npos ||
        own->is_texts() || own->is_json())
      return;
    std::vector<std::byte> fill = own->dtype == dtype ? own->values : zarr::fill_of(json_of_number(*own), dtype);
    if (fill.empty()) return;
    *own = {own->name, dtype, {}, fill};
    content.fill = std::move(fill);
  } else if (!content.fill.empty() && std::string_view("iuf").find(dtype[1]) != std::string_view::npos &&
             content.fill != netcdf_fill(dtype)) {
    content.attributes.push_back({kFillName, dtype, {}, content.fill});
  }
}

/// Rejects types with which netCDF's library crashes (floats of these sizes), or that it does not show (all others).
void check_netcdf_type(const std::string& dtype, const std::string& shown) {
  const std::string_view kind = std::string_view(dtype).substr(1);
  const bool is_float = kind == "f2" || kind == "f12" || kind == "f16";
  if (is_float || kind == "c24" || kind == "c32")
    refuse(text(shown, ": netCDF has no elements of dtype ", dtype, "; convert them (target_dtype, --target-dtype) to ",
                is_float ? "f4 or f8" : "c16", ", or write a file that ends with .h5",
                kind == "f2" ? " or .zarr" : ""));
  if (kind.starts_with('V'))
    refuse(text(shown, ": netCDF has no elements of dtype ", dtype,
                ", neither for opaque bytes nor for bfloat16; write a file that ends with .h5 or .npy"));
}

void check_dimension_names(const Content& content, const std::string& shown) {
  const std::vector<std::string>& names = content.dimension_names;
  for (const std::string& one : names)
    if (!npy::is_utf8(one)) refuse(text(shown, ": the name of a dimension is no UTF-8; give it another one"));
  if (!names.empty() && names.size() != content.type.shape.size())
    refuse(text(shown, ": ", names.size(), " names were given for ", content.type.shape.size(),
                " dimensions; give one for each, or none at all"));
}

void check_unlimited(const Content& content, const std::string& shown) {
  std::int64_t before = -1;
  for (const std::int64_t d : content.unlimited) {
    if (d <= before || d >= static_cast<std::int64_t>(content.type.shape.size()))
      refuse(text(shown, ": unlimited dimension ", d, " was given for ", content.type.shape.size(),
                  " dimensions; give numbers of dimensions, from 0 on, each once and in ascending order"));
    before = d;
  }
}

void describe(Member& one, const NamedArray& asked, const std::string& path, bool of_netcdf) {
  const std::string shown = text(path, "::", one.name);
  Content& content = one.content;
  if (!bytes_of(content.type.shape, content.type.element_bytes))
    refuse(text(shown, " has more than 2^63 - 1 bytes; make it smaller"));
  content.dimension_names = asked.dimension_names;
  check_dimension_names(content, shown);
  content.unlimited = asked.unlimited;
  check_unlimited(content, shown);
  content.attributes = asked.attributes;
  check_attributes(content.attributes, shown);
  if (!asked.fill_value.empty()) {
    content.fill = zarr::fill_of(zarr::fill_given(shown, asked.fill_value, content.type.dtype), content.type.dtype);
  }
  if (of_netcdf) {
    check_netcdf_type(content.type.dtype, shown);
    join_fill_values(content);
  }
  // What is zero anyway need not be said.
  if (std::ranges::all_of(content.fill, [](std::byte byte) { return byte == std::byte{0}; }) &&
      find_attribute(content.attributes, kFillName) == nullptr)
    content.fill.clear();
  const std::vector<Filter> filters = filters_of(asked.codec, content.type.element_bytes);
  const bool in_one_piece = asked.chunk && asked.chunk->empty();
  if (in_one_piece && !filters.empty() && !content.type.shape.empty())
    refuse(text(shown, ": codec \"", asked.codec,
                "\" packs chunks, but the array is to be kept in one piece; leave "
                "either out"));
  if (in_one_piece && !content.unlimited.empty())
    refuse(text(shown, ": an array in one piece has no unlimited dimensions; leave either out"));
  if (in_one_piece || !has_elements(content.type) ||
      (!asked.chunk && filters.empty() && content.fill.empty() && content.unlimited.empty()))
    return;
  one.codec = asked.codec;
  content.chunk = new_chunk(shown, asked.chunk, content.type);
  content.packed = comes_later(one);
}

/// One element, which no chunks keep: it is there from the beginning, so that it need not be written.
bool is_filled_scalar(const Member& member) {
  return member.content.type.shape.empty() && !member.content.fill.empty();
}

}  // namespace

bool is_netcdf_name(const std::string& path) {
  const std::string_view suffix = format_named(path).traits().suffix;
  return suffix == ".nc" || suffix == ".nc4";
}

bool comes_later(const Member& member) {
  const Content& content = member.content;
  return !content.chunk.empty() &&
         (!content.fill.empty() || !filters_of(member.codec, content.type.element_bytes).empty());
}

NewContent new_content(const std::string& path, const FileOptions& options) {
  const auto refuse_shards = [&](bool given) {
    if (given) refuse(text(path, ": shards were given, which Plait writes to .zarr only; leave them out"));
  };
  refuse_shards(options.shard.has_value());
  if (!options.arrays.empty() &&
      (!options.attributes.empty() || !options.dimension_names.empty() || !options.unlimited.empty()))
    refuse(text(
        path,
        ": attributes, names of dimensions or unlimited ones of one array were given, but there are several; give them "
        "with each array"));
  NewContent made;
  made.members = members_of_new(path, options, "data");
  const std::string file(array_name(path).file);
  for (std::size_t i = 0; i < made.members.size(); ++i) {
    Member& one = made.members[i];
    NamedArray asked;
    if (options.arrays.empty()) {
      one.name = bare(one.name);
      asked = {{},
               {},
               options.chunk,
               options.codec,
               options.fill_value,
               options.dimension_names,
               options.attributes,
               options.unlimited};
    } else {
      asked = options.arrays[i];
      if (!asked.chunk) asked.chunk = options.chunk;
      if (asked.codec.empty()) asked.codec = options.codec;
      if (asked.fill_value.empty()) asked.fill_value = options.fill_value;
    }
    describe(one, asked, file, is_netcdf_name(path));
  }
  for (const GroupAttributes& group : options.groups) check_attributes(group.attributes, text(file, "::", group.group));
  return made;
}

void assign_offsets(NewContent& made, std::int64_t head_bytes) {
  std::int64_t end = rounded(head_bytes, kPage);
  for (Member& one : made.members) {
    if (!is_filled_scalar(one)) continue;
    one.content.data_offset = end;
    end = rounded(end + one.content.type.element_bytes, kLine);
  }
  for (Member& one : made.members) {
    Content& content = one.content;
    if (comes_later(one) || is_filled_scalar(one)) continue;
    std::int64_t bytes = 0;
    if (content.chunk.empty()) {
      bytes = *bytes_of(content.type.shape, content.type.element_bytes);
      if (bytes == 0) continue;
    } else {
      bytes = content.bytes();
    }
    content.data_offset = rounded(end, bytes < kPage ? kLine : kPage);
    end = base::checked_add(content.data_offset, bytes, "bytes of the file");
  }
  const bool later = std::ranges::any_of(made.members, comes_later);
  made.file_bytes = end = later ? rounded(end, kPage) : std::max(end, head_bytes);
  for (Member& one : made.members)
    if (comes_later(one)) {
      Content whole = one.content;
      whole.data_offset = 0;
      one.content.data_offset = end;
      end = rounded(base::checked_add(end, whole.bytes(), "bytes of all chunks"), kLine);
    }
  static_cast<Content&>(made) = made.members.front().content;
}

void write_filled_scalars(const NewContent& made, std::vector<std::byte>& head) {
  for (const Member& one : made.members) {
    if (!is_filled_scalar(one)) continue;
    head.resize(static_cast<std::size_t>(one.content.data_offset));
    head.insert(head.end(), one.content.fill.begin(), one.content.fill.end());
  }
}

void set_offsets(NewContent& made, const std::vector<std::int64_t>& offsets) {
  for (std::size_t i = 0; i < made.members.size(); ++i) made.members[i].content.data_offset = offsets[i];
  static_cast<Content&>(made) = made.members.front().content;
}

std::vector<NewDataset> chunked_in(const NewContent& made) {
  std::vector<NewDataset> found;
  for (const Member& one : made.members) {
    const Content& content = one.content;
    if (content.chunk.empty()) continue;
    NewDataset& next = found.emplace_back();
    next.dataset.type = content.type;
    next.dataset.storage = Storage::kChunks;
    next.dataset.chunk = content.chunk;
    next.dataset.fill = content.fill;
    next.dataset.filters = filters_of(one.codec, content.type.element_bytes);
    next.begin = content.data_offset;
    next.told_at = one.told_at;
  }
  std::ranges::stable_sort(found, {}, &NewDataset::begin);
  return found;
}

}  // namespace plait::container::hdf5
