/// Resolved names of stores, for callers that show a store or test if two names mean the same one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plait/layout.hpp"

namespace plait::driver {

/// A file that holds bytes of a store.
struct ComponentFile {
  std::string path;                   ///< absolute path with links followed
  std::optional<std::int64_t> bytes;  ///< empty if this process does not see the file
};

/// The store of a name, as far as this process sees it.
struct ResolvedName {
  std::string kind;  ///< description of the store, such as `a .npy file`
  std::string name;  ///< name for File::open, which differs from the given one if the bytes of a file describe a store
  std::string file;  ///< `name` without the name of an array in the file
  /// Path of the file, or of the description that lists its component files: absolute, with links followed; empty if
  /// there is none.
  std::string path;
  std::string id;                         ///< identification of a store without a path, common to all its names
  std::string location{};                 ///< URL in an object store, with its options; else empty
  std::vector<ComponentFile> components;  ///< component files in their order; empty if the bytes are in the file itself
  std::int64_t unit = 0;                  ///< bytes of a stripe; 0 if not stated
  std::string only_in;                ///< description of the only process that sees the store; empty if others see it
  std::string format{};               ///< name of the format that the name states, such as `hdf5`; empty if none
  bool names_arrays = false;          ///< true if the store holds arrays under names, as `FILE::NAME`
  std::optional<Order> only_order{};  ///< the order of all its arrays, if the format has only one
  bool has_chunks = false;            ///< true if new arrays in it are stored in chunks
  bool adds_arrays = false;           ///< true if new arrays are added to the existing ones
  bool supports_unfinished = false;   ///< true if FileOptions::keeps_unfinished is supported
  bool copies_objects = false;        ///< true if FileOptions::library_copies is supported
  bool states_type = true;            ///< true if the store states shape and type of its array
};

/// Returns the absolute path, with links followed as far as they lead to existing files.
std::string real_path(const std::string& path);
/// Describes a component file at `path`.
ComponentFile component_file(const std::string& path);

}  // namespace plait::driver
