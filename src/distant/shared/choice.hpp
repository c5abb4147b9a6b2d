/// The choice of the file to open among those that ranks see under a name, and of the server of each component.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "distant/shared/folder.hpp"
#include "plait/shared_file.hpp"

namespace plait::distant::shared {

/// The file to open.
struct Choice {
  bool one = false;  ///< true: an ordinary file, which has no id and unit
  std::string id;    ///< the id of a striped file
  std::int64_t unit = 0;
  std::vector<int> servers;  ///< the rank that serves each component
  std::int64_t limit = 0;    ///< the limit with which the file was created; 0: none
  bool operator==(const Choice&) const = default;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, Choice>& choice) {
  codec(choice.one, choice.id, choice.unit, choice.servers, choice.limit);
}

/// Chooses the file from the views of all ranks, in the order of ranks.  A component is served by the rank that sees it
/// and serves the fewest components so far; among equal ranks by the rank that wrote it, or else by the lowest rank.
/// errors  kSystem: there is no such file, not all of it, or more than one.
Choice choose(const std::string& path, std::optional<bool> striped, const std::vector<NameView>& views);

}  // namespace plait::distant::shared
