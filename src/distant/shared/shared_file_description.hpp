/// The description that is stored next to each component of a persistent file; it identifies the file to which the
/// component belongs (docs/formats.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/encoding/traits.hpp"

namespace plait::distant::shared {

/// The components from `first` to `last`, inclusive, and the host on which they were written.
struct Hosts {
  int first = 0;
  int last = 0;
  std::string name;
  bool operator==(const Hosts&) const = default;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, Hosts>& hosts) {
  codec(hosts.first, hosts.last, hosts.name);
}

/// The description of one component, and of the file to which it belongs.
struct Description {
  std::string id;  ///< 16 hexadecimal digits, the same for all components of the file
  int components = 0;
  std::int64_t unit = 0;
  int component = 0;
  std::vector<Hosts> hosts;           ///< the hosts of all components, in order
  std::vector<std::string> replaced;  ///< ids of older files of the same name, which this file replaces
  std::int64_t limit = 0;             ///< no byte may be written at or after this offset; 0: no limit
  bool operator==(const Description&) const = default;

  /// Returns the host on which a component was written.
  const std::string& host(int of_component) const;
  std::string to_text() const;
};

/// Encodes the description for other ranks; files use to_text().
template <class Codec>
void fields(Codec& codec, base::Record<Codec, Description>& description) {
  codec(description.id, description.components, description.unit, description.component, description.hosts,
        description.replaced, description.limit);
}

/// Parses the text of a description.
/// errors  kSystem: the text is damaged or of a newer version; the error names `path`.
Description parse(const std::string& text, const std::string& path);

/// Returns `.c3of8-0123456789abcdef`, the suffix of a component's file name.  Another letter than `c` marks a component
/// of a temporary file.
std::string component_suffix(int component, int components, const std::string& id, char letter = 'c');
inline constexpr const char* kDescriptionSuffix = ".meta";

/// The parts of the name of a file that belongs to a shared file.
struct ComponentName {
  std::string id;
  int component = 0;
  int components = 0;
  bool description = false;  ///< false: the file has the bytes of the component
};
/// Parses the name of a file in a folder.  Returns nothing if it does not belong to the shared file with the name
/// `file`.
std::optional<ComponentName> parse_component_name(const std::string& name, const std::string& file);

}  // namespace plait::distant::shared
