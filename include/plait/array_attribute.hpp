/// What files say beside the elements: attributes of arrays and of the groups that these are in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
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
  /// What is nested or of several types, as Zarr's attributes can be.
  static constexpr const char* kJson = "json";

  bool is_texts() const { return dtype == kTexts; }
  bool is_json() const { return dtype == kJson; }
  bool operator==(const ArrayAttribute&) const = default;
};

using ArrayAttributes = std::vector<ArrayAttribute>;

/// What becomes of attributes, by their names; nothing: they go.
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

}  // namespace plait
