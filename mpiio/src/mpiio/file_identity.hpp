/// Finds out whether a path is still the file that the MPI has opened, and whether Plait may open it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace plait::mpiio {

/// The file of a path: two opened files with equal identities are the same.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t number = 0;
  bool operator==(const FileIdentity&) const = default;
};

/// Returns the identity of a regular file; nothing for any other descriptor or path.
std::optional<FileIdentity> find_identity(int descriptor);
std::optional<FileIdentity> find_identity(const std::string& path);

/// True for file systems on which hosts see each other's writes late, unless they lock as the MPI does.
bool has_weak_coherence(const std::string& path);

/// Returns the absolute path of a name; an empty one if there is none.
std::string find_path(std::string_view name);

}  // namespace plait::mpiio
