/// Which of the files that ranks see under a name is opened, and which rank serves what of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "distant/shared/folder.hpp"
#include "plait/shared_file.hpp"

namespace plait::distant::shared {

struct Choice {
  bool one = false;
  std::string id;  ///< of a striped one
  std::int64_t unit = 0;
  std::vector<int> servers;  ///< of each component
  std::int64_t limit = 0;    ///< that the file was made with; 0: none
  bool operator==(const Choice&) const = default;
};

template <class Codec>
void fields(Codec& codec, base::Record<Codec, Choice>& choice) {
  codec(choice.one, choice.id, choice.unit, choice.servers, choice.limit);
}

/// Chooses from what each rank sees.  A component is served where it was written if that rank sees it, otherwise by a
/// rank that sees it and has few.
/// errors  kSystem: there is no such file, not all of it, or more than one.
Choice choose(const std::string& path, SharedFilePlace place, const std::vector<Sight>& sights);

}  // namespace plait::distant::shared
