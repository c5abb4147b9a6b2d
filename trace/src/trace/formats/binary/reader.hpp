/// The reader of binary traces.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "plait/trace.hpp"
#include "trace/formats/binary/part.hpp"
#include "trace/formats/binary/remarks.hpp"
#include "trace/formats/binary/stream.hpp"
#include "trace/formats/binary/tables.hpp"
#include "trace/source.hpp"

namespace plait::trace::binary {

/// Reads the events of several parts, merged in the order of their starts.
class BinaryReader : public Reader {
 public:
  explicit BinaryReader(std::vector<Part> parts);

  /// Restricts the reader to events that start in [begin, end); chunks without any are skipped. Called before the
  /// first read.
  void restrict_to(std::int64_t begin, std::int64_t end);

  std::size_t read(std::span<Event> output) override;
  const Description& description() const override { return description_; }
  std::int64_t bytes_read() const override { return bytes_read_; }
  std::int64_t bytes_in_all() const override { return bytes_; }

 private:
  bool is_past(std::int64_t start) const noexcept { return start >= end_ && end_ != INT64_MAX; }

  struct QueuedChunk {
    std::int64_t first;  // start of its first event in the trace's time
    std::int64_t last;
    std::uint32_t part;
    ChunkEntry entry;
  };
  using StreamPointer = std::unique_ptr<Stream>;
  static bool starts_after(const StreamPointer& a, const StreamPointer& b) noexcept;

  void open(const QueuedChunk& chunk, std::uint64_t order);
  void close(const Stream& stream);
  bool advance(Event& event);

  std::vector<Part> parts_;
  Description description_;
  std::unique_ptr<Tables> tables_;
  std::vector<QueuedChunk> queued_chunks_;   // in the order of `first`
  std::size_t next_chunk_ = 0;               // index in queued_chunks_
  std::vector<StreamPointer> open_streams_;  // a heap without `current_`
  StreamPointer current_;
  std::int64_t begin_ = INT64_MIN;
  std::int64_t end_ = INT64_MAX;  // no end: an event may start at this time
  std::int64_t bytes_read_ = 0;
  std::int64_t bytes_ = 0;
  std::int64_t lost_events_ = 0;
  std::size_t lost_entry_ = 0;  // index in Description::missed of the entry for damaged chunks
  Remarks damage_remarks_{"further damaged chunks"};
};

std::unique_ptr<Reader> open_source(std::unique_ptr<Source> source, const ReadOptions& options);

}  // namespace plait::trace::binary
