/// One file of a binary trace: its header and the positions of its chunks. A trace of several hosts has one file for
/// each host.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/events/format.h"
#include "plait/trace.hpp"
#include "trace/formats/binary/blob.hpp"

namespace plait::trace::binary {

/// The properties of a chunk that are known before it is read.
struct ChunkEntry {
  std::uint64_t position = 0;  ///< offset in the file
  std::uint32_t size = 0;      ///< in bytes
  std::uint32_t kind = 0;      ///< PLAIT_CHUNK_...
  std::int64_t first = 0;      ///< earliest start of its events, in the time of the file
  std::int64_t last = 0;       ///< latest start of its events
};

class Part {
 public:
  /// Reads the header and finds the chunks.
  /// errors  kSystem; kArgument: not a trace of this format or version.
  Part(std::string name, std::unique_ptr<Blob> blob);

  const std::string& name() const noexcept { return name_; }
  const Blob& blob() const noexcept { return *blob_; }
  const plait_trace_header& header() const noexcept { return header_; }
  std::string host() const;
  bool is_written() const noexcept { return (header_.flags & PLAIT_TRACE_WRITTEN) != 0; }
  const std::vector<ChunkEntry>& chunks() const noexcept { return chunks_; }
  /// True if a written trace has its end.
  bool has_end() const noexcept { return has_end_; }
  /// Number of bytes that are neither zero nor part of a chunk, and the position of the first one.
  std::uint64_t unrecognised_bytes() const noexcept { return unrecognised_bytes_; }
  std::uint64_t first_unrecognised() const noexcept { return first_unrecognised_; }
  /// Number of allocated bytes that are not in the file.
  std::uint64_t missing_bytes() const noexcept;

  /// Reads the header of a chunk. Returns false if there is none.
  bool read_chunk(std::uint64_t position, plait_chunk& chunk) const;
  /// Returns the ns to add to a time of this file to convert it to the time of the trace of `first`.
  std::int64_t time_shift(const Part& first) const noexcept;

 private:
  bool read_index();
  void scan_chunks();

  std::string name_;
  std::unique_ptr<Blob> blob_;
  plait_trace_header header_{};
  std::vector<ChunkEntry> chunks_;
  std::uint64_t unrecognised_bytes_ = 0;
  std::uint64_t first_unrecognised_ = 0;
  bool has_end_ = false;
};

/// True if these are the first bytes of a trace of this format.
bool is_header(std::string_view head);
/// Open files of other hosts that belong to the trace at `path`.
struct Sibling {
  std::string path;
  std::unique_ptr<Blob> blob;
};
std::vector<Sibling> find_siblings(const std::string& path, std::uint64_t family);

/// The end of a written trace, with the position of its index.
struct Trailer {
  char magic[4];
  std::uint32_t entries;
  std::uint64_t position;
  std::uint64_t checksum;  ///< checksum of the entries' bytes
};
constexpr char kTrailerMagic[] = "PLTX";
/// FNV-1a, 64 bits.
std::uint64_t compute_checksum(const void* bytes, std::size_t count, std::uint64_t initial = 0xcbf29ce484222325U);

}  // namespace plait::trace::binary
