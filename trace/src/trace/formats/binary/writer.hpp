/// The writer of binary traces, for events in order.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/events/delta.h"
#include "base/events/format.h"
#include "plait/trace.hpp"
#include "trace/sink.hpp"

namespace plait::trace::binary {

/// Writes one stream of chunks for all threads. In a chunk, each thread has a context of its own: the state from which
/// its next event is predicted.
/// memory   two chunks, and a context for each thread of the current one.
class BinaryWriter : public Writer {
 public:
  explicit BinaryWriter(std::unique_ptr<Sink> sink);

  void add(const Process& process) override;
  void add(const File& file) override;
  void write(std::span<const Event> events) override;
  void finish(const Description& description) override;
  std::int64_t bytes_written() const override { return sink_->bytes(); }

 private:
  /// A chunk that is being filled.
  struct PartialChunk {
    plait_chunk chunk{};
    std::vector<unsigned char> bytes;
    std::size_t used = 0;
  };

  void begin_chunk(PartialChunk& chunk, std::uint32_t kind);
  void end_chunk(PartialChunk& chunk);
  void write_event(const Event& event);
  /// Adds a record to the chunk of tables.
  void add_record(std::uint64_t type, const std::string& fields);
  void write_index();

  std::unique_ptr<Sink> sink_;
  PartialChunk events_;
  PartialChunk tables_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> context_indices_;  // index of a thread's context
  std::vector<std::unique_ptr<plait_delta>> contexts_;
  std::size_t used_contexts_ = 0;                           // number of contexts_ in use
  std::uint32_t current_context_ = 0;                       // index of the last event's context
  std::pair<std::uint32_t, std::uint32_t> current_thread_;  // process and thread of the last event
  std::int64_t latest_start_ = 0;                           // latest start of the events in the current chunk
  std::vector<plait_index_entry> index_;
};

std::unique_ptr<Writer> create(std::unique_ptr<Sink> sink, const WriteOptions& options);

}  // namespace plait::trace::binary
