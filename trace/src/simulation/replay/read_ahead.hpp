/// Read-ahead: predicts which bytes of a file a process will read next.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "simulation/replay/settings.hpp"

namespace plait::simulation {

/// Bytes of a file; empty if end is not above begin.
struct FileRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Predicts the range that a process reads next in a file, by one of these strategies:
///
///   one        one block after a request that continues the previous one of this process on this file
///   many       a fixed number of bytes after such a request
///   same-size  as many bytes as were just read, after such a request
///   stride     the next request, if two successive distances between requests were equal
///   adaptive   windows that grow while reads are sequential; each is requested when a read reaches the previous one
///
/// Sources: same-size: E. L. Miller, "Input/Output Behavior of Supercomputing Applications" (1992), section 6.2.
/// adaptive, as in Linux: F. Wu, H. Xi, J. Li and N. Zou, "Linux readahead: less tricks for more", Proceedings of the
/// Linux Symposium 2007, volume 2.
/// cost       O(1) a request.
/// memory     about 100 bytes for each process and file.
class ReadAhead {
 public:
  ReadAhead(ReadAheadKind kind, std::int64_t block, std::int64_t size) : kind_(kind), block_(block), size_(size) {}

  /// Returns the range to read ahead after a read.
  FileRange predict(std::uint32_t process, std::uint32_t file, std::int64_t offset, std::int64_t length);

 private:
  struct State {
    std::int64_t begin = -1;  // begin of the last request
    std::int64_t end = 0;     // end of the last request; with 0, a first request at offset 0 counts as sequential
    std::int64_t stride = 0;
    FileRange window;        // the last window that was requested
    std::int64_t mark = -1;  // offset whose read requests the next window
  };

  FileRange adapt(State& state, std::int64_t offset, std::int64_t length, bool sequential) const;

  ReadAheadKind kind_;
  std::int64_t block_;
  std::int64_t size_;
  std::unordered_map<std::uint64_t, State> states_;
};

}  // namespace plait::simulation
