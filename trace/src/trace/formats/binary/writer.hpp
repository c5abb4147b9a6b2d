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

/// Writes one stream of chunks for all threads. Each thread is a context of its own in a chunk.
/// memory   two chunks, and a state for each thread of the current one.
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

  void begin(PartialChunk& chunk, std::uint32_t kind);
  void end(PartialChunk& chunk);
  void put(const Event& event);
  void record(std::uint64_t type, const std::string& fields);
  void write_index();

  std::unique_ptr<Sink> sink_;
  PartialChunk events_;
  PartialChunk tables_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> numbers_;  // context of a process and thread
  std::vector<std::unique_ptr<plait_delta>> contexts_;
  std::size_t in_use_ = 0;  // number of contexts_ in use
  std::uint32_t current_ = 0;
  std::pair<std::uint32_t, std::uint32_t> current_thread_;
  std::int64_t greatest_ = 0;
  std::vector<plait_index_entry> index_;
};

std::unique_ptr<Writer> create(std::unique_ptr<Sink> sink, const WriteOptions& options);

}  // namespace plait::trace::binary
