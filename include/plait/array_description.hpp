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

/// An attribute: numbers, texts, or what only JSON spells.
struct ArrayAttribute {
  std::string name;
  /// The type of its numbers as .npy files spell it (`<f4`); kTexts; or kJson.
  std::string dtype;
  Extents shape{};                   ///< of its values, the last dimension fastest; empty: there is one
  std::vector<std::byte> values{};   ///< numbers
  std::vector<std::string> texts{};  ///< texts in UTF-8; of kJson one, as JSON spells it
  /// Why its value cannot be read; empty: it can.
  std::string refused{};

  static constexpr const char* kTexts = "text";
  /// The dtype of a value that is nested or of several types, as in Zarr.
  static constexpr const char* kJson = "json";

  bool is_texts() const { return dtype == kTexts; }
  bool is_json() const { return dtype == kJson; }
  bool operator==(const ArrayAttribute&) const = default;
};

using ArrayAttributes = std::vector<ArrayAttribute>;

/// New values of attributes, by their names; without a value the attribute is removed.
using AttributeChanges = std::map<std::string, std::optional<ArrayAttribute>>;

/// A dimension that a group of an HDF5 or netCDF file defines.
struct GroupDimension {
  std::string name;
  std::int64_t length = 0;
  bool unlimited = false;  ///< arrays may be extended along it

  bool operator==(const GroupDimension&) const = default;
};

/// The attributes of a group; the one that all others are in has an empty name.
struct GroupAttributes {
  std::string group;  ///< its path, without a slash in front
  ArrayAttributes attributes;
  /// Those that a file defines in this group, in its order, without those of the groups above; new files define
  /// dimensions by the names that their arrays have for them.
  std::vector<GroupDimension> dimensions{};
};

/// The shape and element type of an array in a file.
struct ArrayType {
  Extents shape;
  /// The type of an element as .npy files spell it (`<f8`), or empty where only its size is known.
  std::string dtype;
  std::int64_t element_bytes = 0;
  Order order = Order::kC;
};

/// The properties of an array apart from its type: how a file stores the array, and what it means.
struct ArrayProperties {
  /// Formats that keep an array in chunks, such as Zarr: the shape of a chunk, one number of 1 or more for each dimension.
  /// Not given for a new array: chunks of about 8 MiB that are contiguous in the array's order, as far as can be.
  /// Empty, for HDF5: the array is kept in one piece, whatever its fill value; elements that are not written are 0 then.
  /// An existing array without chunks has no value here.
  std::optional<Extents> chunk{};
  /// The shape of a shard, a file that holds many chunks; each size is a multiple of the chunk's.  Not given: none.
  std::optional<Extents> shard{};
  /// How each chunk is compressed: `none`, `zstd:3`, `gzip:5`, with a level or without one.  Empty: not at all.
  std::string codec{};
  /// The value of elements that are not written, as JSON spells it: `0`, `1.5`, `NaN`, `-Infinity`, `true`, `[0, 1]` of a
  /// complex type.  Empty: zero.
  std::string fill_value{};
  /// The names of the dimensions, one for each; empty: they have none.
  std::vector<std::string> dimension_names{};
  /// The numbers of the dimensions that other programs may extend, ascending, of HDF5 and netCDF-4 files, where the array
  /// lies in chunks then.  In Zarr every dimension may be extended, so nothing is kept there.
  std::vector<std::int64_t> unlimited{};
  ArrayAttributes attributes{};

  const ArrayProperties& properties() const { return *this; }
};

/// An array of a file.
struct ArrayDescription : ArrayProperties {
  std::string name{};  ///< in a file that holds several arrays; else empty
  ArrayType type{};
};

}  // namespace plait
