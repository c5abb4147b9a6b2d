/// Lengths of the unlimited dimensions of recently opened files.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "container/hdf5/library.hpp"

namespace plait::container::hdf5 {

/// A cache of the lengths of unlimited dimensions.
///
/// Problem: the length of an unlimited dimension of a netCDF file is known only after all its variables have been
/// examined, so that opening n variables one by one would examine n^2 of them.
///
/// Idea: the lengths are cached and used as long as the file does not change: same device, inode number, size and
/// times. A file that was changed within the last two seconds is not cached, because it may change again without
/// getting a new time. An object in an object store is recognized by the identity of its content.
///
/// Example: copying a file of 2000 variables examines 2000 of them, instead of 4 million.
class RecordCounts {
 public:
  /// descriptor: the open file.
  explicit RecordCounts(int descriptor);
  /// object: the identity of the content of an object in an object store; empty if it has none.
  explicit RecordCounts(std::string object) : object_(std::move(object)), is_stable_(!object_.empty()) {}

  /// Returns the length of the dimension of a scale; empty if it is not cached. scale: the address of the scale.
  std::optional<std::int64_t> find(haddr_t scale) const;
  /// Caches a length, unless the file may still change.
  void add(haddr_t scale, std::int64_t records) const;

 private:
  struct File {
    struct stat state{};
    std::string object;
    std::map<haddr_t, std::int64_t> records;
  };
  /// Returns the cached files, the most recently used one last.
  /// threads  The caller holds the Library.
  static std::vector<File>& files();
  /// Returns the entry of this file, which becomes the most recently used one; nullptr if there is none.
  File* find_file() const;

  struct stat state_{};     ///< of an ordinary file
  std::string object_;      ///< identity of the content of an object; empty for an ordinary file
  bool is_stable_ = false;  ///< true if the file may be cached
};

}  // namespace plait::container::hdf5
