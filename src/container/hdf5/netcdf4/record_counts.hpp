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
/// Problem: only all variables together show how long an unlimited dimension of a netCDF file is, so that opening n
/// variables one by one would examine n^2 of them.
///
/// Idea: the lengths are cached for a file that has not changed since: same device, inode number, size and times. A
/// file that was changed within the last two seconds may change again without a new time, and is not cached. An object
/// has an identity.
///
/// Example: copying a file of 2000 variables examines 2000 of them, instead of 4 million.
class RecordCounts {
 public:
  /// descriptor: the open file.
  explicit RecordCounts(int descriptor);
  /// object: the identity of the content of an object in an object store; empty if it has none.
  explicit RecordCounts(std::string object) : object_(std::move(object)), is_stable_(!object_.empty()) {}

  std::optional<std::int64_t> find(haddr_t scale) const;
  void add(haddr_t scale, std::int64_t records) const;

 private:
  struct File {
    struct stat state{};
    std::string object;
    std::map<haddr_t, std::int64_t> records;
  };
  /// Returns all cached files, the most recently used one last.
  /// threads  The caller holds the Library.
  static std::vector<File>& files();
  File* known() const;

  struct stat state_{};
  std::string object_;
  bool is_stable_ = false;
};

}  // namespace plait::container::hdf5
