/// Where names of stores lead: plain values, for callers that show a store or distinguish two names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plait/layout.hpp"

namespace plait::driver {

/// A file that holds bytes of a store.
struct ComponentFile {
  std::string path;                   ///< absolute, with links followed
  std::optional<std::int64_t> bytes;  ///< empty: not seen from this process
};

/// Where a name leads, as far as this process sees.
struct Located {
  std::string kind;  ///< what is there, in words: `a .npy file`
  std::string name;  ///< by which File::open opens it: another one where a file's bytes only stand for a store
  std::string file;  ///< `name` without that of an array in the file
  std::string path;  ///< of its file, or of the text that lists its files; as component paths; empty: it has none
  std::string id;    ///< where it has no path: what all names of it have in common, and no others have
  std::vector<ComponentFile> components;  ///< in their order; empty: the bytes are in the file itself
  std::int64_t unit = 0;                  ///< bytes of a stripe; 0: not stated
  std::string only_in;                    ///< where alone it is, in words, if no other process sees it
  bool names_arrays = false;              ///< whether it holds arrays under names, as `FILE::NAME`
  std::optional<Order> only_order{};      ///< the one that all its arrays have, if there is one
  bool keeps_chunks = false;              ///< whether new arrays in it lie in chunks
  bool adds_arrays = false;               ///< whether new arrays are added to those that it holds
  bool keeps_unfinished = false;          ///< whether a new one may stay unfinished
  bool states_type = true;                ///< whether it states shape and type of its array
};

/// Absolute, with links followed as far as they lead to anything.
std::string real_path(const std::string& path);
ComponentFile component_file(const std::string& path);

}  // namespace plait::driver
