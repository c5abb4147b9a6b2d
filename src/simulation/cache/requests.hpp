/// Requests of traces, and the blocks that they use.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "plait/trace.hpp"
#include "simulation/cache/policy.hpp"

namespace plait::simulation {

/// Requests of more bytes, and those that end further behind, are taken for damage of the trace: with them sums of
/// addresses and of times would not be numbers any more.
constexpr std::int64_t kLongestRequest = std::int64_t{1} << 40;
constexpr std::int64_t kFarthestEnd = std::int64_t{1} << 53;

/// One request for bytes of a file.
struct FileRequest {
  std::uint32_t file = 0;     ///< a dense number
  std::uint32_t process = 0;  ///< a dense number
  std::int64_t offset = 0;
  std::int64_t length = 0;  ///< at least 1
};

/// Events that are no requests for a cache, or not quite as they should be.
struct Oddities {
  std::int64_t empty = 0;      ///< requests of no bytes, left out
  std::int64_t failed = 0;     ///< requests that failed, left out
  std::int64_t streams = 0;    ///< requests without an offset, as of pipes, left out
  std::int64_t beyond = 0;     ///< requests too long or too far behind, left out
  std::int64_t backwards = 0;  ///< requests that start before the one in front of them, taken in the order of the trace
};

/// Turns events into requests.  Reads and writes are requests for the bytes that they moved.  Files of the same name are
/// the same file for all processes; opens without a name are files of their own.
/// memory   in proportion to processes and opens.  threads  one at a time.
class RequestReader {
 public:
  /// What the trace tells of an open, before its first event.
  void add(const trace::File& file);
  /// Whether the event is a request, which it then becomes.
  bool read(const trace::Event& event, FileRequest& request);

  const Oddities& oddities() const noexcept { return oddities_; }
  std::uint32_t processes() const noexcept { return static_cast<std::uint32_t>(processes_.size()); }

 private:
  std::uint32_t file_of(std::uint32_t process, std::uint32_t number);
  std::uint32_t process_of(std::uint32_t number);

  std::unordered_map<std::string, std::uint32_t> names_;
  std::unordered_map<std::uint64_t, std::uint32_t> files_;  // by process and number of the open
  std::unordered_map<std::uint32_t, std::uint32_t> processes_;
  std::uint32_t next_file_ = 0;
  std::uint64_t last_open_ = 0;  // that was looked up
  std::uint32_t last_file_ = 0;
  std::uint32_t last_number_ = 0;
  std::uint32_t last_process_ = 0;
  bool looked_up_ = false;
  std::int64_t last_start_ = 0;
  bool started_ = false;
  Oddities oddities_;
};

/// A block that a request uses.
struct Piece {
  std::int64_t bytes = 0;  ///< of the request that lie in the block
  bool last = false;       ///< of its request
};

/// Uses of blocks in the order in which they are made, each with its piece.
struct Batch {
  std::vector<Use> uses;
  std::vector<Piece> pieces;
};

inline void clear(Batch& batch) {
  batch.uses.clear();
  batch.pieces.clear();
}

/// Cuts a request into blocks and hands them on, in batches of bounded size where it uses many.
/// full  called with no arguments when the batch has kBatch uses; it takes them and clears the batch.
constexpr std::size_t kBatch = 4096;

template <typename Full>
void cut(const FileRequest& request, std::int64_t block, Batch& batch, Full full) {
  std::int64_t offset = request.offset;
  const std::int64_t end = offset + request.length;
  while (offset < end) {
    const std::int64_t number = offset / block;
    const std::int64_t bytes = std::min(end - offset, block - offset % block);
    offset += bytes;
    batch.uses.push_back({{static_cast<std::uint64_t>(number), request.file}, request.process, kNever, 0});
    batch.pieces.push_back({bytes, offset == end});
    if (batch.uses.size() == kBatch) full();
  }
}

}  // namespace plait::simulation
