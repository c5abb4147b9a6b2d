/// What lies beside each component of a persistent file and says what it is part of.  docs/formats.md
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/encoding/traits.hpp"

namespace plait::distant::shared {

/// On which host components were written.
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
  std::string id;  ///< 16 hexadecimal digits, of all components of the file
  int components = 0;
  std::int64_t unit = 0;
  int component = 0;
  std::vector<Hosts> hosts;           ///< of all components, in order
  std::vector<std::string> replaced;  ///< ids of older files of the name, which it stands for
  std::int64_t limit = 0;             ///< no byte is to be written at or behind it; 0: none
  bool operator==(const Description&) const = default;

  const std::string& host(int of_component) const;
  std::string to_text() const;
};

/// For other ranks; files have to_text().
template <class Codec>
void fields(Codec& codec, base::Record<Codec, Description>& description) {
  codec(description.id, description.components, description.unit, description.component, description.hosts,
        description.replaced, description.limit);
}

/// errors  kSystem: names `path`, where the text is damaged or of a newer version.
Description parse(const std::string& text, const std::string& path);

/// `.c3of8-0123456789abcdef`: what stands behind the file's name in the name of a component.  With another letter than
/// `c`, of one that is not to stay.
std::string component_suffix(int component, int components, const std::string& id, char letter = 'c');
inline constexpr const char* kDescriptionSuffix = ".meta";

/// What a name in a folder is of a file, if anything.
struct Found {
  std::string id;
  int component = 0;
  int components = 0;
  bool description = false;
};
std::optional<Found> recognise(const std::string& name, const std::string& file);

}  // namespace plait::distant::shared
