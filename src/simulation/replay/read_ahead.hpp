/// What to read before it is asked for.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "simulation/replay/settings.hpp"

namespace plait::simulation {

/// Bytes of a file; empty where end is not above begin.
struct FileRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// one        one block behind a request that goes on where the last one of this process on this file ended
/// many       so many bytes behind it
/// same-size  as much as was just read (Miller 1992, section 6.2)
/// stride     where requests of a process on a file have kept their distance twice: the next one
/// adaptive   windows that grow as long as reading goes on in order, each asked for when the one before it is begun,
///            as Linux does (F. Wu, H. Xi, J. Li and N. Zou, "Linux readahead: less tricks for more", Proceedings of
///            the Linux Symposium 2007, volume 2)
/// cost    O(1) a request.  memory: some 100 bytes for each process and file.
class ReadAhead {
 public:
  ReadAhead(ReadAheadKind kind, std::int64_t block, std::int64_t size) : kind_(kind), block_(block), size_(size) {}

  /// After a read: what to read ahead.
  FileRange next(std::uint32_t process, std::uint32_t file, std::int64_t offset, std::int64_t length);

 private:
  struct State {
    std::int64_t begin = -1;  // of the last request
    std::int64_t end = 0;     // the first request continues where it begins at 0
    std::int64_t stride = 0;
    FileRange window;        // asked for last
    std::int64_t mark = -1;  // reading it asks for the next window
  };

  FileRange adapt(State& state, std::int64_t offset, std::int64_t length, bool sequential) const;

  ReadAheadKind kind_;
  std::int64_t block_;
  std::int64_t size_;
  std::unordered_map<std::uint64_t, State> states_;
};

}  // namespace plait::simulation
