/// Finds out whether a path is still the file that the MPI has opened, and whether Plait may open it.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace plait::mpiio {

/// The device and the inode number of a file: two paths or descriptors with equal identities are the same file.
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

/// The path of a file that the MPI has opened.
/// threads  Several may call the functions at once.
class OpenedPath {
 public:
  /// descriptor  of the MPI, which is open until the file is closed; -1 if it is unknown
  OpenedPath(std::string_view name, int descriptor);

  /// The absolute path; empty if there is none.
  const std::string& text() const { return path_; }
  /// True if it is still the path of the file that the MPI has opened.
  bool is_current();
  /// True if the path is current and a descriptor is of the same file.
  bool matches(int descriptor);
  /// Returns a path by which this process can open the file; an empty one if the file was replaced and the descriptor
  /// is unknown.
  std::string find_current();
  /// True if Plait may open it.
  bool is_usable() { return is_current() && !has_weak_coherence(path_); }

 private:
  std::mutex mutex_;  ///< guards the identity
  std::string path_;
  int descriptor_;
  bool has_identity_;                     ///< identity_ has been found; with a descriptor, at the first use
  std::optional<FileIdentity> identity_;  ///< nothing if Plait cannot open the file
};

/// Returns the absolute path of a name; an empty one if there is none.
std::string find_path(std::string_view name);

}  // namespace plait::mpiio
