/// Arrays as files and programs describe them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "plait/layout.hpp"

namespace plait {

/// An attribute: numbers, texts, or a value that only JSON can represent.
struct ArrayAttribute {
  std::string name;
  /// The type of its numbers as .npy files spell it (`<f4`); kTexts; or kJson.
  std::string dtype;
  /// The shape of its values, the last dimension fastest; it is empty if there is one value.
  Extents shape{};
  std::vector<std::byte> values{};  ///< the numbers
  /// The texts in UTF-8; a kJson attribute has one, which is JSON.
  std::vector<std::string> texts{};
  /// The reason why the value cannot be read; it is empty if the value can be read.
  std::string error{};

  static constexpr const char* kTexts = "text";
  /// The dtype of a value that is nested or of several types, as in Zarr.
  static constexpr const char* kJson = "json";

  bool is_texts() const { return dtype == kTexts; }
  bool is_json() const { return dtype == kJson; }
  bool operator==(const ArrayAttribute&) const = default;
};

using ArrayAttributes = std::vector<ArrayAttribute>;

/// New values of attributes by name. An attribute without a value is removed.
using AttributeChanges = std::map<std::string, std::optional<ArrayAttribute>>;

/// A dimension that a group defines, in an HDF5 or netCDF file or in a Zarr store that netCDF's library has written.
struct GroupDimension {
  std::string name;
  std::int64_t length = 0;
  bool unlimited = false;  ///< arrays may be extended along it

  bool operator==(const GroupDimension&) const = default;
};

/// The attributes of a group.  The root group, which contains all others, has an empty name.
struct GroupAttributes {
  std::string group;  ///< its path, without a leading slash
  ArrayAttributes attributes;
  /// The dimensions that a file defines in this group, in its order, without those of the groups above.  New files take
  /// them from the dimension names of their arrays.
  std::vector<GroupDimension> dimensions{};
};

/// The shape and element type of an array in a file.
struct ArrayType {
  Extents shape;
  /// The type of an element as .npy files spell it (`<f8`); it is empty if only the size is known; kTexts for texts of
  /// any length.
  std::string dtype;
  std::int64_t element_bytes = 0;
  Order order = Order::kC;

  static constexpr const char* kTexts = ArrayAttribute::kTexts;
  /// The bytes of a text's element in local arrays: a reference, which Texts::read() converts to the text.
  static constexpr std::int64_t kTextBytes = 16;
  bool has_texts() const { return dtype == kTexts; }
};

/// The properties of an array apart from its type: how a file stores the array, and its meaning.
struct ArrayProperties {
  /// The shape of a chunk in formats such as Zarr, one number of 1 or more for each dimension.  A new array without it
  /// gets chunks of about 8 MiB, contiguous in the array's order if possible.  If it is empty, HDF5 stores the array
  /// contiguously, whatever its fill value; elements that are not written are 0 then.  An existing array without chunks
  /// has no value here.
  std::optional<Extents> chunk{};
  /// The shape of a shard, a file that holds many chunks; each size is a multiple of the chunk's.  Arrays without
  /// shards have no value here.
  std::optional<Extents> shard{};
  /// The codec of each chunk: `none`, `zstd:3`, `gzip:5`, with a level or without one.  Empty means `none`.
  std::string codec{};
  /// The value of elements that are not written, as JSON spells it: `0`, `1.5`, `NaN`, `-Infinity`, `true`, `[0, 1]` of
  /// a complex type.  Empty means zero.
  std::string fill_value{};
  /// The names of the dimensions, one for each; the list is empty if they have no names.
  std::vector<std::string> dimension_names{};
  /// The numbers of the unlimited dimensions, ascending, in HDF5 and netCDF-4 files, which store such arrays in chunks.
  /// In Zarr every dimension may be extended, so the list is empty there.
  std::vector<std::int64_t> unlimited{};
  ArrayAttributes attributes{};

  const ArrayProperties& properties() const { return *this; }
};

/// Calls visit(name, words, member) for each property: its name, its description in errors, and its member.  The
/// encoder of records, the checks of open() and the Python bindings use this function, so that a new property is added
/// only here.
template <class Visit>
constexpr void for_each_property(const Visit& visit) {
  visit("chunks", "a shape of chunks", &ArrayProperties::chunk);
  visit("shards", "a shape of shards", &ArrayProperties::shard);
  visit("codec", "a codec", &ArrayProperties::codec);
  visit("fill_value", "a fill value", &ArrayProperties::fill_value);
  visit("dimension_names", "names of dimensions", &ArrayProperties::dimension_names);
  visit("unlimited", "unlimited dimensions", &ArrayProperties::unlimited);
  visit("attributes", "attributes", &ArrayProperties::attributes);
}

/// An array of a file.
struct ArrayDescription : ArrayProperties {
  std::string name{};  ///< in a file that holds several arrays; else empty
  ArrayType type{};
};

}  // namespace plait
