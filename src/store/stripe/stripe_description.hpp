/// The description of a striped file: the small text under its name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace plait::store::stripe {

/// Which component files hold the bytes, and how they are distributed over them.
struct Description {
  std::int64_t unit = 0;
  std::int64_t bytes = 0;
  std::string id;                       ///< a number that no other striped file has, in the names of the components
  std::vector<std::string> components;  ///< paths, absolute once read

  /// The bytes that a component holds.
  std::int64_t component_bytes(std::size_t component) const;
  /// The text that parse() reads.  Its length does not depend on `bytes`.
  std::string to_text() const;
  bool operator==(const Description&) const = default;
};

/// errors  kSystem naming `shown`: an ordinary file's content, a newer version, damage.
Description parse(const std::string& text, const std::string& shown);

/// Reads what is open under `path`.  Paths of components that are not absolute count from its folder.
/// errors  kSystem: as parse(), and what reading a file can meet; `shown` names the striped file.
Description description_in(Store& store, const std::string& path, const std::string& shown);
/// The same of the file `path`.
Description read_description(const std::string& path, const std::string& shown);
/// The same for what may be no striped file: nothing where there is no file, or one that does not begin as descriptions
/// do.  errors  kSystem.
std::optional<Description> description_at(const std::string& path);

/// Whether a file begins as descriptions do.
bool looks_like_description(const std::string& path) noexcept;
/// The same of one that is open.  errors  kSystem.
bool holds_description(Store& store);

/// The name of a component file, in front of which its folder stands.
std::string component_name(const std::string& basename, std::size_t component, const std::string& id);
/// Whether a path's last part is that name: only such files are ever removed.
bool is_component(const std::string& path, const std::string& basename, std::size_t component, const std::string& id);

/// A number for a new file.
std::string new_id();

}  // namespace plait::store::stripe
