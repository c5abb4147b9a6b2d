/// Lengths of the unlimited dimensions of files that were opened lately.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "container/hdf5/library.hpp"

namespace plait::container::hdf5 {

/// A netCDF file says how long an unlimited dimension is only through all variables that have it, so that opening n
/// variables one by one would look at n^2 of them.  The lengths are therefore remembered for a file that has not been
/// changed since: same device, number, size and times.  A file that was changed within the last two seconds may change
/// again without another time, and is not remembered.
///
/// Example: copying a file of 2000 variables looks at 2000 of them, instead of 4 million.
class RecordCounts {
 public:
  /// The file that is opened by this descriptor.
  explicit RecordCounts(int descriptor);

  std::optional<std::int64_t> find(haddr_t scale) const;
  void add(haddr_t scale, std::int64_t records) const;

 private:
  struct File {
    struct stat state{};
    std::map<haddr_t, std::int64_t> records;
  };
  /// All files, the last used last.
  /// threads  Whoever holds the Library.
  static std::vector<File>& files();
  File* known() const;

  struct stat state_{};
  bool is_stable_ = false;
};

}  // namespace plait::container::hdf5
