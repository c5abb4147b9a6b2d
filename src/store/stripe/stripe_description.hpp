/// The description of a striped file: the small text file under its name, which lists the component files that have the
/// data, one on each disk.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace plait::store::stripe {

/// The component files of a striped file, and the distribution of its bytes over them.
struct Description {
  std::int64_t unit = 0;
  std::int64_t bytes = 0;
  std::string id;                       ///< unique identifier of the striped file, part of the names of its components
  std::vector<std::string> components;  ///< paths, absolute after reading

  /// Returns the number of bytes that a component holds.
  /// Example: 10 bytes in units of 3 on 2 components. Component 0 has stripes 0 and 2, 6 bytes; component 1 has stripe
  /// 1 and the last byte, 4 bytes.
  std::int64_t component_bytes(std::size_t component) const;
  /// Returns the text that parse() reads. Its length does not depend on `bytes`, so that a resize overwrites it.
  std::string to_text() const;
  bool operator==(const Description&) const = default;
};

/// Parses a description. display_name: the name in errors.
/// errors  kSystem: the text is not a description, has a newer version, or is damaged.
Description parse(const std::string& text, const std::string& display_name);

/// Reads the description from an open file. path: its path; relative paths of components are relative to its folder.
/// display_name: the name of the striped file in errors.
/// errors  kSystem: those of parse(), and those of reading a file.
Description read_description(Store& store, const std::string& path, const std::string& display_name);
/// Reads the description in the file `path`.
Description read_description(const std::string& path, const std::string& display_name);
/// Reads the description of a file that need not be striped. Returns nothing if the file does not exist or is not a
/// description.  errors  kSystem.
std::optional<Description> find_description(const std::string& path);

/// Returns true if a file begins like a description; false if it cannot be read.
bool looks_like_description(const std::string& path) noexcept;
/// Returns true if an open file begins like a description.  errors  kSystem.
bool holds_description(Store& store);

/// Returns the name of a component file, without its folder.
std::string component_name(const std::string& basename, std::size_t component, const std::string& id);
/// Returns true if the last part of a path is component_name(). Plait removes only such files.
bool is_component(const std::string& path, const std::string& basename, std::size_t component, const std::string& id);

/// Returns a random identifier for a new striped file.
std::string new_id();

}  // namespace plait::store::stripe
