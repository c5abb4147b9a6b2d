/// The requests of a trace, and the blocks that they use.
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

/// Requests that are longer, or that end at a larger offset, are ignored as damage of the trace, because sums of their
/// addresses and times would overflow.
constexpr std::int64_t kMaxRequestBytes = std::int64_t{1} << 40;
constexpr std::int64_t kMaxRequestEnd = std::int64_t{1} << 53;

/// One request for bytes of a file.
struct FileRequest {
  std::uint32_t file = 0;     ///< dense number
  std::uint32_t process = 0;  ///< dense number
  std::int64_t offset = 0;
  std::int64_t length = 0;  ///< at least 1
};

/// Events that are not requests for a cache, or are unusual.
struct Oddities {
  std::int64_t empty = 0;      ///< ignored requests of no bytes
  std::int64_t failed = 0;     ///< ignored requests that failed
  std::int64_t streams = 0;    ///< ignored requests without an offset, such as those of pipes
  std::int64_t beyond = 0;     ///< ignored requests that are too long or end at too large an offset
  std::int64_t backwards = 0;  ///< requests that start before their predecessor; they keep the order of the trace
};

/// Converts events to requests. Reads and writes are requests for the bytes that they transferred. Files of the same
/// name are the same file for all processes; an open without a name is a file of its own.
/// memory   in proportion to processes and opens.
/// threads  one at a time.
class RequestReader {
 public:
  /// Registers an open, before its first event.
  void add(const trace::File& file);
  /// Converts an event to `request`. Returns false if the event is not a request.
  bool read(const trace::Event& event, FileRequest& request);

  const Oddities& oddities() const noexcept { return oddities_; }
  std::uint32_t processes() const noexcept { return static_cast<std::uint32_t>(processes_.size()); }

 private:
  // Return the dense number of a file or a process by its number in the trace.
  std::uint32_t number_file(std::uint32_t process, std::uint32_t number);
  std::uint32_t number_process(std::uint32_t number);

  std::unordered_map<std::string, std::uint32_t> names_;
  std::unordered_map<std::uint64_t, std::uint32_t> files_;  // key: process and number of the open
  std::unordered_map<std::uint32_t, std::uint32_t> processes_;
  std::uint32_t next_file_ = 0;
  std::uint64_t last_open_ = 0;  // key in files_ of the last event, because the next event often has the same
  std::uint32_t last_file_ = 0;
  std::uint32_t last_process_number_ = 0;
  std::uint32_t last_process_ = 0;
  bool has_last_open_ = false;
  std::int64_t last_start_ = 0;
  bool has_last_start_ = false;
  Oddities oddities_;
};

/// A block that a request uses.
struct Piece {
  std::int64_t bytes = 0;  ///< bytes of the request in the block
  bool last = false;       ///< true for the last block of its request
};

/// Uses of blocks in their order, each with its piece.
struct Batch {
  std::vector<Use> uses;
  std::vector<Piece> pieces;
};

inline void clear(Batch& batch) {
  batch.uses.clear();
  batch.pieces.clear();
}

constexpr std::size_t kBatch = 4096;

/// Cuts a request into blocks and appends them to a batch.
/// full  called without arguments when the batch has kBatch uses; it consumes them and clears the batch.
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
