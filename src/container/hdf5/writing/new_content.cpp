// Deciding how each array of a new file is stored, and at which offset.
//
// The head with all metadata comes first; offsets are assigned after it, in three groups. Arrays of one element with a
// fill value follow the head directly, because they are written together with it. Then come arrays whose size in the
// file is known. Arrays of at least a page begin at a multiple of 4,096, so that direct I/O is possible; smaller ones
// begin at a multiple of 64. Datasets whose chunks have unknown sizes come last: their addresses are virtual
// (NewChunks).
//
// Example: a head of 3,000 bytes, a of 800 bytes, b of 10,000 bytes, c of 30,000 bytes with deflate.
//    a   4,096    the first multiple of 4,096 after the head; a ends at 4,896
//    b   8,192    b ends at 18,192
//    c  20,480    file_bytes, the multiple of 4,096 after b: the log of c's chunks begins here

#include "container/hdf5/writing/new_content.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "base/checked.hpp"
#include "base/errors.hpp"
#include "base/text.hpp"
#include "container/array_type.hpp"
#include "container/attributes.hpp"
#include "container/attributes_json.hpp"
#include "container/fill_value.hpp"
#include "container/format_registry.hpp"
#include "container/hdf5/element.hpp"
#include "container/hdf5/filters.hpp"
#include "container/hdf5/texts/heap_texts.hpp"
#include "container/hdf5/writing/new_type.hpp"
#include "container/hdf5/writing/object_writer.hpp"
#include "container/members.hpp"
#include "container/netcdf/default_fill.hpp"
#include "container/npy/encoding.hpp"
#include "container/npy/record_type.hpp"
#include "container/zarr/new_array.hpp"

namespace plait::container::hdf5 {

namespace {

using base::text;

constexpr std::int64_t kDefaultChunkBytes = std::int64_t{1} << 20;  // capacity of the library's own chunk cache
constexpr std::int64_t kPageBytes = 4096;
constexpr std::int64_t kCacheLineBytes = 64;
constexpr const char* kFillAttribute = "_FillValue";

/// Returns the first multiple of `unit` that is not less than `value`.
std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return base::checked_add(value, (unit - value % unit) % unit, "bytes of the file");
}

bool has_elements(const ArrayType& type) {
  return !type.shape.empty() && std::ranges::find(type.shape, 0) == type.shape.end();
}

/// errors  kArgument: the shape of a chunk does not fit the array, or the chunk is too large.
void check_chunk(const std::string& display_name, const Extents& chunk, const ArrayType& type) {
  if (chunk.size() != type.shape.size() || std::ranges::any_of(chunk, [](std::int64_t size) { return size < 1; }))
    base::throw_argument_error(display_name, ": chunks of ", shape_to_string(chunk), " do not fit an array ",
                               shape_to_string(type.shape), "; give a size of 1 or more for each dimension");
  const auto bytes = array_bytes(chunk, type.element_bytes);
  if (!bytes || *bytes > kMaxFilteredChunkBytes ||
      std::ranges::any_of(chunk, [](std::int64_t size) { return size > UINT32_MAX; }))
    base::throw_argument_error(display_name, ": chunks of ", shape_to_string(chunk), " have more than ",
                               kMaxFilteredChunkBytes, " bytes; give smaller ones");
}

/// Returns the shape of a chunk of an array, and checks it.
/// requested: the shape that the user states. unlimited: the dimensions in which the chunk may exceed the array.
Extents choose_chunk(const std::string& display_name, const std::optional<Extents>& requested, const ArrayType& type,
                     const std::vector<std::int64_t>& unlimited) {
  Extents chunk = requested.value_or(zarr::default_chunk(type, kDefaultChunkBytes));
  for (std::size_t d = 0; d < chunk.size() && chunk.size() == type.shape.size(); ++d)
    if (std::ranges::find(unlimited, static_cast<std::int64_t>(d)) == unlimited.end() && chunk[d] > 0)
      chunk[d] = std::min(chunk[d], std::max<std::int64_t>(type.shape[d], 1));
  check_chunk(display_name, chunk, type);
  return chunk;
}

/// Makes the attribute `_FillValue` and the fill value equal. In netCDF they are the same value, of the array's dtype.
void equalize_fill_values(Content& content) {
  const std::string& dtype = content.type.dtype;
  const auto attribute = std::ranges::find(content.attributes, kFillAttribute, &ArrayAttribute::name);
  if (attribute != content.attributes.end()) {
    if (value_count(*attribute) != 1 || std::string_view("biufc").find(attribute->dtype[1]) == std::string_view::npos ||
        attribute->is_texts() || attribute->is_json())
      return;
    std::vector<std::byte> fill =
        attribute->dtype == dtype ? attribute->values : zarr::encode_fill(number_to_json(*attribute), dtype);
    if (fill.empty()) return;
    *attribute = {attribute->name, dtype, {}, fill};
    content.fill = std::move(fill);
  } else if (!content.fill.empty() && std::string_view("iuf").find(dtype[1]) != std::string_view::npos &&
             content.fill != netcdf::default_fill(dtype)) {
    content.attributes.push_back({kFillAttribute, dtype, {}, content.fill});
  }
}

/// Rejects types that netCDF lacks: its library crashes on floats of these sizes and does not show the other types.
void check_netcdf_type(const std::string& dtype, const std::string& display_name) {
  if (npy::is_record(dtype)) return;
  if (is_date(dtype))
    base::throw_argument_error(display_name, ": netCDF has no elements of dtype ", dtype,
                               "; write its counts as int64, array.view(\"i8\"), with the attribute units, such as "
                               "\"days since 2000-01-01\", or write a file that ends with .h5 or .npy");
  const std::string_view kind = std::string_view(dtype).substr(1);
  if (netcdf_lacks(kind))
    base::throw_argument_error(display_name, ": netCDF has no elements of dtype ", dtype,
                               "; convert them (target_dtype, --target-dtype) to ", kind[0] == 'f' ? "f4 or f8" : "c16",
                               ", or write a file that ends with .h5", kind == "f2" ? " or .zarr" : "");
  if (kind.starts_with('V'))
    base::throw_argument_error(display_name, ": netCDF has no elements of dtype ", dtype,
                               ", neither for opaque bytes nor for bfloat16; write a file that ends with .h5 or .npy");
}

void check_record(const std::string& dtype, const std::string& display_name, bool is_netcdf) {
  if (!npy::is_record(dtype)) return;
  if (const base::Rejection rejection = record_rejection(dtype, is_netcdf))
    base::throw_argument_error(display_name, " cannot be written: ", rejection.reason(),
                               "; convert the field, or write a file that ends with ", is_netcdf ? ".h5 or " : "",
                               ".npy");
}

void check_dimension_names(const Content& content, const std::string& display_name) {
  const std::vector<std::string>& names = content.dimension_names;
  for (const std::string& name : names)
    if (!npy::is_utf8(name))
      base::throw_argument_error(display_name, ": the name of a dimension is not UTF-8; give it another one");
  if (!names.empty() && names.size() != content.type.shape.size())
    base::throw_argument_error(display_name, ": ", names.size(), " names were given for ", content.type.shape.size(),
                               " dimensions; give one for each, or none at all");
}

void check_unlimited(const Content& content, const std::string& display_name) {
  std::int64_t previous = -1;
  for (const std::int64_t d : content.unlimited) {
    if (d <= previous || d >= static_cast<std::int64_t>(content.type.shape.size()))
      base::throw_argument_error(
          display_name, ": unlimited dimension ", d, " was given for ", content.type.shape.size(),
          " dimensions; give numbers of dimensions, from 0 on, each once and in ascending order");
    previous = d;
  }
}

/// Returns an element that stands for the fill value of texts until the library has stored it; empty for empty texts.
std::vector<std::byte> make_text_fill(const std::string& display_name, const std::string& fill_value) {
  const std::string value = zarr::parse_text_fill(display_name, fill_value);
  if (value.find('\0') != std::string::npos)
    base::throw_argument_error(display_name, ": the fill value ", fill_value,
                               " contains a NUL character, which texts of HDF5 cannot have; give another one");
  return value.empty() ? std::vector<std::byte>() : missing_text_element();
}

/// Checks a new array, and decides how it is stored. Sets its fill value, chunk and codec.
void describe_storage(Member& array, const std::string& path, bool is_netcdf) {
  const std::string display_name = text(path, "::", array.name);
  const ArrayType& type = array.type;
  if (!array_bytes(type.shape, type.element_bytes))
    base::throw_argument_error(display_name, " has more than 2^63 - 1 bytes; make it smaller");
  check_dimension_names(array, display_name);
  check_unlimited(array, display_name);
  check_attributes(array.attributes, display_name);
  check_record(type.dtype, display_name, is_netcdf);
  if (!array.fill_value.empty() && type.has_texts())
    array.fill = make_text_fill(display_name, array.fill_value);
  else if (!array.fill_value.empty())
    array.fill = zarr::encode_fill(zarr::parse_fill_value(display_name, array.fill_value, type.dtype), type.dtype);
  if (is_netcdf) {
    check_netcdf_type(type.dtype, display_name);
    equalize_fill_values(array);
  }
  // The default fill value is zero and need not be stored.
  if (std::ranges::all_of(array.fill, [](std::byte byte) { return byte == std::byte{0}; }) &&
      find_attribute(array.attributes, kFillAttribute) == nullptr)
    array.fill.clear();
  const std::vector<Filter> filters = make_filters(array.codec, type.element_bytes);
  const bool is_contiguous = array.chunk && array.chunk->empty();  // an empty chunk shape requests it
  if (is_contiguous && !filters.empty() && !type.shape.empty())
    base::throw_argument_error(display_name, ": codec \"", array.codec,
                               "\" packs chunks, but the array is to be kept in one piece; leave "
                               "either out");
  if (is_contiguous && !array.unlimited.empty())
    base::throw_argument_error(display_name, ": an array in one piece has no unlimited dimensions; leave either out");
  if (is_contiguous || !has_elements(type) ||
      (!array.chunk && filters.empty() && array.fill.empty() && array.unlimited.empty())) {
    array.chunk.reset();
    array.codec.clear();
    return;
  }
  array.chunk = choose_chunk(display_name, array.chunk, type, /*unlimited=*/{});
  array.whole_chunks = has_virtual_address(array);
}

/// Returns true for an array of one element with a fill value. It has no chunks, so its element is written with the
/// head.
bool is_filled_scalar(const Member& member) { return member.type.shape.empty() && !member.fill.empty(); }

/// Makes a NewContent, which is a Content itself, describe its first member; an array without elements if it has none.
void copy_first_member(NewContent& content) {
  const ArrayType no_elements{{0}, "|u1", 1};
  static_cast<Content&>(content) = content.members.empty() ? Content(no_elements, 0) : content.members.front();
}

}  // namespace

bool is_netcdf_name(const std::string& path) {
  const std::string_view suffix = format_named(path).traits().suffix;
  return suffix == ".nc" || suffix == ".nc4";
}

std::string without_leading_slash(const std::string& name) { return name.starts_with('/') ? name.substr(1) : name; }

bool has_virtual_address(const Member& member) {
  return member.in_chunks() && (!member.fill.empty() || !make_filters(member.codec, member.type.element_bytes).empty());
}

bool needs_log(const Member& member) { return has_virtual_address(member) || member.type.has_texts(); }

NewContent make_new_content(const std::string& path, const FileOptions& options) {
  const auto has_shards = [](const ArrayProperties& array) { return array.shard.has_value(); };
  if (has_shards(options) || std::ranges::any_of(options.arrays, has_shards))
    base::throw_argument_error(path, ": shards were given, which Plait writes to .zarr only; leave them out");
  if (!options.arrays.empty() &&
      (!options.attributes.empty() || !options.dimension_names.empty() || !options.unlimited.empty()))
    base::throw_argument_error(
        path,
        ": attributes, names of dimensions or unlimited ones of one array were given, but there are several; give them "
        "with each array");
  NewContent content;
  // A file may have only datasets that the library copies.
  if (!options.arrays.empty() || options.shape || options.library_copies.arrays.empty())
    content.members = make_new_members(path, options, "data");
  const std::string file(array_name(path).file);
  for (Member& member : content.members) {
    if (options.arrays.empty()) member.name = without_leading_slash(member.name);
    describe_storage(member, file, is_netcdf_name(path));
  }
  for (const GroupAttributes& group : options.groups) check_attributes(group.attributes, text(file, "::", group.group));
  return content;
}

Member make_added_member(const std::string& path, const FileOptions& options, bool is_netcdf) {
  const std::string file(array_name(path).file);
  Member member = make_new_members(path, options, "data").front();
  member.name = without_leading_slash(member.name);
  const std::string display_name = text(file, "::", member.name);
  check_object_name(member.name, display_name);
  if (member.shard)
    base::throw_argument_error(path, ": shards were given, which Plait writes to .zarr only; leave them out");
  if (member.type.order != Order::kC)
    base::throw_argument_error(display_name, ": HDF5 keeps arrays in order C, but order=F was given; leave it out");
  // describe_storage() resets both for an array without elements. An unlimited array gets elements later: use them
  // then.
  const std::optional<Extents> chunk = member.chunk;
  const std::string codec = member.codec;
  describe_storage(member, file, is_netcdf);
  if (member.unlimited.empty()) return member;
  if (chunk || has_elements(member.type))
    member.chunk = choose_chunk(display_name, chunk, member.type, member.unlimited);
  else
    member.chunk = chunk_for_empty_array(member.type.shape);
  member.codec = codec;
  return member;
}

void assign_offsets(NewContent& content, std::int64_t head_bytes) {
  std::int64_t end = round_up(head_bytes, kPageBytes);
  for (Member& member : content.members) {
    if (!is_filled_scalar(member)) continue;
    member.data_offset = end;
    end = round_up(end + member.type.element_bytes, kCacheLineBytes);
  }
  for (Member& member : content.members) {
    if (has_virtual_address(member) || is_filled_scalar(member)) continue;
    std::int64_t bytes = 0;
    if (member.in_chunks()) {
      bytes = member.bytes();
    } else {
      bytes = *array_bytes(member.type.shape, member.type.element_bytes);
      if (bytes == 0) continue;  // an array without elements has no offset
    }
    member.data_offset = round_up(end, bytes < kPageBytes ? kCacheLineBytes : kPageBytes);
    end = base::checked_add(member.data_offset, bytes, "bytes of the file");
  }
  const bool has_log = std::ranges::any_of(content.members, needs_log);
  content.file_bytes = end = has_log ? round_up(end, kPageBytes) : std::max(end, head_bytes);
  for (Member& member : content.members)
    if (has_virtual_address(member)) {
      // Content::bytes() returns the end of the array; without an offset, that is its size.
      auto without_offset = static_cast<const Content&>(member);
      without_offset.data_offset = 0;
      member.data_offset = end;
      end = round_up(base::checked_add(end, without_offset.bytes(), "bytes of all chunks"), kCacheLineBytes);
    }
  copy_first_member(content);
}

void write_filled_scalars(const NewContent& content, std::vector<std::byte>& head) {
  for (const Member& member : content.members) {
    if (!is_filled_scalar(member)) continue;
    head.resize(static_cast<std::size_t>(member.data_offset));
    head.insert(head.end(), member.fill.begin(), member.fill.end());
  }
}

void set_offsets(NewContent& content, const std::vector<std::int64_t>& offsets) {
  for (std::size_t i = 0; i < content.members.size(); ++i) content.members[i].data_offset = offsets[i];
  copy_first_member(content);
}

std::vector<NewDataset> make_chunked_datasets(const NewContent& content) {
  std::vector<NewDataset> datasets;
  for (const Member& member : content.members) {
    if (!member.in_chunks()) continue;
    NewDataset& next = datasets.emplace_back();
    next.dataset.type = member.type;
    next.dataset.storage = Storage::kChunks;
    next.dataset.chunk = *member.chunk;
    next.dataset.fill = member.fill;
    next.dataset.filters = make_filters(member.codec, member.type.element_bytes);
    next.begin = member.data_offset;
    next.address_field = member.address_field;
  }
  std::ranges::stable_sort(datasets, {}, &NewDataset::begin);
  return datasets;
}

}  // namespace plait::container::hdf5
