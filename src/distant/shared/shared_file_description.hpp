/// The description next to each component of a persistent file, which says of what file it is a part (docs/formats.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/encoding/traits.hpp"

namespace plait::distant::shared {

/// A range of components and the host on which they were written.
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

struct Description {
  std::string id;  ///< 16 hexadecimal digits, the same for all components of the file
  int components = 0;
  std::int64_t unit = 0;
  int component = 0;
  std::vector<Hosts> hosts;           ///< the hosts of all components, in order
  std::vector<std::string> replaced;  ///< ids of older files of the name, which it replaces
  std::int64_t limit = 0;             ///< no byte may be written at or after this offset; 0: no limit
  bool operator==(const Description&) const = default;

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

/// The parts of a file name in a folder, if it belongs to a shared file.
struct ComponentName {
  std::string id;
  int component = 0;
  int components = 0;
  bool description = false;
};
std::optional<ComponentName> recognise(const std::string& name, const std::string& file);

}  // namespace plait::distant::shared
